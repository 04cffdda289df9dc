// `platform disk`: what accounts take of the disk, for an operator who has to make space.
import { sizeText } from '@platform/contract/sizes';
import { diskSpace, type PlatformConfig } from '@platform/core/config';
import { deleteVolume, listDiskUse } from '@platform/core/operator';
import { type Command, UsageError } from '../command.ts';
import { platformConfiguration } from '../local/configuration.ts';
import { withLocalCore } from '../local/local-core.ts';
import { ownedApp } from '../local/named-app.ts';
import { requireRunning } from '../local/require-running.ts';
import { paint, say, sayJson } from '../terminal/terminal.ts';

export const diskCommand: Command = {
  summary: 'show what takes disk space, and delete volumes',
  usage: `Usage: ./platform disk [--json]
       ./platform disk delete-volume <account>/<app>

Lists the space on the disk, every volume with the size it was granted, and every published package.
delete-volume deletes the volume that a removed app left, with all data in it. Remove an app that is installed with
\`./platform uninstall\`, and a package with \`./platform unpublish\`. --json is for programs.`,
  async run([action, ...args]) {
    const config = platformConfiguration();
    if (action === undefined || (action === '--json' && args.length === 0)) return list(config, action === '--json');
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

async function list(config: PlatformConfig, isJson: boolean): Promise<number> {
  const space = diskSpace(config.dataDirectory);
  const { volumes, packages, images } = await withLocalCore(config, (context) => listDiskUse(context));
  if (isJson) {
    sayJson({ ...space, volumes, packages, images }, 2);
    return 0;
  }
  const { freeBytes, totalBytes, reserveBytes } = space;
  say(
    `${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free; ${sizeText(reserveBytes)} are kept for PostgreSQL and logs.`,
  );
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
    ...images.map(({ account, appId, bytes, node }) => ({
      bytes,
      what: `image of ${account}/${appId}`,
      more: node === null ? 'installed' : `on ${node}`,
    })),
  ].sort((one, other) => other.bytes - one.bytes);
  for (const { bytes, what, more } of lines)
    say(`${sizeText(bytes).padStart(10)}  ${what}  ${paint('dim', `(${more})`)}`);
  if (lines.length === 0) say('No account has a volume, a package or an image.');
  return 0;
}
