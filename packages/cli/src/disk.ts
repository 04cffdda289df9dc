// `platform disk`: what accounts take of the disk, for an operator who has to make space.
import { sizeText } from '@platform/contract/sizes';
import { diskSpace, type PlatformConfig } from '@platform/core/config';
import {
  type CoreContext,
  deleteAnyVersion,
  deleteVolume,
  listDiskUse,
  selectOwn,
  uninstallApp,
} from '@platform/core/operator';
import { StartError } from '@platform/core/start';
import { requireAccount } from './account.ts';
import { type Command, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { withLocalCore } from './local-core.ts';
import { requireRunning } from './require-running.ts';
import { paint, say } from './terminal.ts';

export const diskCommand: Command = {
  summary: 'show what takes disk space, and delete volumes',
  usage: `Usage: ./platform disk
       ./platform disk delete-volume <account>/<app>

Lists the space on the disk, every volume with the size it was granted, and every published package.
delete-volume deletes the volume that a removed app left, with all data in it. Remove an app that is installed with
\`./platform uninstall\`, and a package with \`./platform unpublish\`.`,
  async run([action, ...args]) {
    const config = configuration();
    if (action === undefined) return list(config);
    const [name, ...rest] = args;
    if (action !== 'delete-volume' || name === undefined || rest.length > 0)
      throw new UsageError('Name one volume: ./platform disk delete-volume <account>/<app>');
    await requireRunning(config);
    return withLocalCore(config, async (context) => {
      const { account, appId } = await ownedApp(context, name);
      await deleteVolume(context, account.key, appId);
      say(`${paint('green', '✓')} The volume of ${account.name}/${appId} is deleted.`);
      return 0;
    });
  },
};

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
    const config = configuration();
    const withVolume = names.length < args.length;
    if (withVolume) await requireRunning(config);
    return withLocalCore(config, async (context) => uninstall(context, { name, withVolume }));
  },
};

export const unpublishCommand: Command = {
  summary: 'delete a version from the Store that nobody has installed',
  usage: `Usage: ./platform unpublish <app>@<version>

Deletes the version and its package, of any publisher, unless an account has it installed. The platform need not be
running.`,
  async run(args) {
    const [name = '', ...rest] = args;
    const [appId = '', version = ''] = name.split(/@(.*)/);
    if (appId === '' || version === '' || rest.length > 0)
      throw new UsageError('Name one version: ./platform unpublish <app>@<version>');
    return withLocalCore(configuration(), async (context) => {
      await deleteAnyVersion(context, { appId, version });
      say(`${paint('green', '✓')} ${appId} ${version} is no longer in the Store.`);
      return 0;
    });
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

/** @throws UsageError unless `name` is `<account>/<app>`; StartError for an unknown account */
async function ownedApp(context: CoreContext, name: string) {
  const [account = '', appId = '', ...rest] = name.split('/');
  if (account === '' || appId === '' || rest.length > 0) throw new UsageError('Write it as <account>/<app>.');
  return { account: await requireAccount(context, account), appId };
}

async function list(config: PlatformConfig): Promise<number> {
  const { freeBytes, totalBytes, reserveBytes } = diskSpace(config.dataDirectory);
  say(
    `${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free; ${sizeText(reserveBytes)} are kept for PostgreSQL and logs.`,
  );
  const { volumes, packages } = await withLocalCore(config, (context) => listDiskUse(context));
  const lines = [
    ...volumes.map(({ account, appId, bytes, installed, node }) => ({
      bytes,
      what: `volume of ${account}/${appId}`,
      more: [installed ? 'installed' : 'removed', ...(node === null ? [] : [`on ${node}`])].join(', '),
    })),
    ...packages.map(({ account, appId, version, bytes, installed }) => ({
      bytes,
      what: `package ${appId}@${version} by ${account}`,
      more: installed ? 'installed' : 'not installed',
    })),
  ].sort((one, other) => other.bytes - one.bytes);
  for (const { bytes, what, more } of lines)
    say(`${sizeText(bytes).padStart(10)}  ${what}  ${paint('dim', `(${more})`)}`);
  if (lines.length === 0) say('No account has a volume or a package.');
  return 0;
}
