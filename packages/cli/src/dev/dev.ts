// `platform dev`: a folder runs as an installed app of a running platform, and again with every change of a file.
import { rmSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { buildSdk } from '@platform/sdk/build';
import { type Command, UsageError, understood } from '../command.ts';
import { stopSignals } from '../process/running.ts';
import { choosePlatform, ON_OPTION } from '../remote/choose-platform.ts';
import { hasScript, startWatchScript } from './build.ts';
import { Development } from './development.ts';
import { localPlatform } from './local-platform.ts';
import { outlast } from './outlast.ts';
import { remotePlatform } from './remote-platform.ts';
import type { DevPlatform } from './target.ts';

export const devCommand: Command = {
  summary: 'run a folder as an app and reload it on every change',
  usage: `Usage: ./platform dev [folder] [--grant-all] [--as <account> | --on <address>]

Installs the folder (default: this one) as the app <id>-dev of an account (default: the only account) in the platform that
runs on this machine, or with --on in one that you signed in to with ./platform login. It runs with the real Gateway and
sandbox beside the published app, with its own data. When a file changes, it gets a new version and its backend starts again;
its log is shown here. If package.json has the script "watch", that runs too. When the platform is restarted, it goes on.
Ctrl-C ends it; the app stays until you remove it.
  --grant-all  gives it every permission that its manifest requests, critical ones too, without asking`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({
        args: [...args],
        allowPositionals: true,
        options: { as: { type: 'string' }, 'grant-all': { type: 'boolean', default: false }, ...ON_OPTION },
      }),
    );
    const [folder = '.', ...rest] = positionals;
    if (rest.length > 0) throw new UsageError('Name one folder: ./platform dev <folder>');
    if (!(await isFolder(folder)))
      throw new UsageError(`${folder} is not a folder. Name the one of the app: ./platform dev <folder>`);
    const login = choosePlatform(values.on, values.as);
    const grantAll = values['grant-all'];
    if (login !== null && grantAll)
      throw new UsageError(
        '--grant-all is for the platform on this machine: a login cannot grant permissions. Grant them in Settings → Apps.',
      );
    const ending = new AbortController();
    // A closed terminal, too: nothing of this is of use without its output.
    void stopSignals().then(() => end(ending));
    const { signal } = ending;
    if (login !== null) await develop(remotePlatform(login), { folder, signal, hint: '.' });
    else {
      const platform = localPlatform({ accountName: values.as, grantAll });
      await develop(platform, { folder, signal, hint: ', or run this with --grant-all.' });
    }
    return 0;
  },
};

/** Later on it may be deleted and come back, as when a branch is changed. */
function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

const STOP_LIMIT_MS = 5_000;

/** What waits for a platform that has gone is not waited for. */
function end(ending: AbortController): void {
  ending.abort();
  setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
}

interface Place {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** How else permissions are granted. */
  readonly hint: string;
}

async function develop(platform: DevPlatform, { folder, signal, hint }: Place): Promise<void> {
  await platform.require();
  const scratch = await mkdtemp(path.join(tmpdir(), 'platform-dev-'));
  const forget = () => rmSync(scratch, { recursive: true, force: true });
  process.once('exit', forget);
  const sdk = await buildSdk();
  const watch = (await hasScript(folder, 'watch')) ? startWatchScript(folder) : undefined;
  const development = new Development({ folder, hint, scratch, sdk, isBuilt: watch !== undefined });
  try {
    await outlast(platform, signal, (target, until) => development.run(target, until));
  } finally {
    await watch?.end();
    development.end();
    await rm(scratch, { recursive: true, force: true });
    process.off('exit', forget);
  }
}
