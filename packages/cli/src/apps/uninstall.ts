// `platform uninstall`: an app leaves an account, as its owner would remove it.
import { type CoreContext, deleteVolume, selectOwn, uninstallApp } from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { ownedApp } from '../local/named-app.ts';
import { requireRunning } from '../local/require-running.ts';
import { paint, say } from '../terminal/terminal.ts';

export const uninstallCommand: Command = {
  summary: 'remove an app from an account',
  usage: `Usage: ./platform uninstall <account>/<app> [--delete-volume]

Removes the app as its owner would. Its volume stays for a later installation, unless --delete-volume deletes it with all
data in it; that needs the running platform.`,
  async run(args) {
    const names = args.filter((arg) => arg !== '--delete-volume');
    const [name, ...rest] = names;
    if (name === undefined || rest.length > 0 || name.startsWith('-'))
      throw new UsageError('Name one app: ./platform uninstall <account>/<app> [--delete-volume]');
    const config = platformConfiguration();
    const withVolume = names.length < args.length;
    if (withVolume) await requireRunning(config);
    return withLocalCore(config, async (context) => uninstall(context, { name, withVolume }));
  },
};

async function uninstall(
  context: CoreContext,
  { name, withVolume }: { readonly name: string; readonly withVolume: boolean },
): Promise<number> {
  const { account, appId } = await ownedApp(context, name);
  if ((await selectOwn(context.database, account.key, appId)) === undefined)
    throw new StartError(
      'not_installed',
      `${account.name} has no app ${appId}. \`./platform disk\` lists the data of removed apps.`,
    );
  await uninstallApp(context, account.key, appId);
  if (withVolume) await deleteVolume(context, account.key, appId);
  say(`${paint('green', '✓')} ${account.name} no longer has ${appId}.${withVolume ? ' Its volume is deleted.' : ''}`);
  return 0;
}
