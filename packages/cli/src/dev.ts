// `platform dev`: a folder runs as an installed app of the running platform, and again with every change of a file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { limits, RefusalError } from '@platform/contract';
import type { PlatformConfig } from '@platform/core/config';
import { buildSdk } from '@platform/sdk/build';
import { type Command, UsageError } from './command.ts';
import { configuration } from './configuration.ts';
import { type Deployed, type DevApp, deploy, folderState } from './dev-deploy.ts';
import { changesOf } from './dev-watch.ts';
import { followLogs } from './follow-logs.ts';
import { chooseAccount, withLocalCore } from './local-core.ts';
import { complainOf, understood } from './package.ts';
import { PackageProblem } from './packaging/package-problem.ts';
import { requireRunning } from './require-running.ts';
import { paint, say } from './terminal.ts';

export const devCommand: Command = {
  summary: 'run a folder as an app and reload it on every change',
  usage: `Usage: platform dev <folder> [--as <account>]

Installs the folder as the app <id>-dev of an account (default: the only account) in the platform that runs on this
machine, with the real Gateway and sandbox, and every permission, origin and resource its manifest asks
for. It runs beside the published app, with its own data. When a file changes, it gets a new version and
its backend starts again; its log is shown here. Ctrl-C ends it; the app stays until you remove it in Settings.`,
  async run(args) {
    const { values, positionals } = understood(() =>
      parseArgs({ args: [...args], allowPositionals: true, options: { as: { type: 'string' } } }),
    );
    const [folder, ...rest] = positionals;
    if (folder === undefined || rest.length > 0) throw new UsageError('Name one folder: platform dev <folder>');
    const config = configuration();
    await requireRunning(config);
    const scratch = await mkdtemp(path.join(tmpdir(), 'platform-dev-'));
    try {
      await develop({ config, folder, scratch, accountName: values.as });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
    return 0;
  },
};

/** Every line that is kept; those from before `since` are left out. */
const ALL_LINES = limits.workloadLogLines.value;

interface Development {
  readonly config: PlatformConfig;
  readonly folder: string;
  readonly scratch: string;
  readonly accountName: string | undefined;
}

async function develop({ config, folder, scratch, accountName }: Development): Promise<void> {
  const sdk = await buildSdk();
  await withLocalCore(config, async (context, nodes) => {
    const account = await chooseAccount(context, accountName);
    const ending = new AbortController();
    const end = () => ending.abort();
    process.once('SIGINT', end).once('SIGTERM', end);
    const app: DevApp = { context, nodes, account, folder, scratch, sdk };
    const since = context.clock();
    let logs: Promise<void> | undefined;
    let isFirst = true;
    let state: string | undefined;
    try {
      for await (const present of statesOf(folder, ending.signal)) {
        if (present === state) continue;
        state = present;
        const deployed = await attempt(app, isFirst);
        isFirst &&= deployed === undefined;
        // Followed from the first version with a backend on; the installation stays the same over all versions.
        if (deployed?.hasBackend === true)
          logs ??= followLogs(app.nodes, deployed.installationId, { since, newest: ALL_LINES, signal: ending.signal });
      }
    } finally {
      ending.abort();
      process.off('SIGINT', end).off('SIGTERM', end);
      await logs;
    }
  });
}

/** What the folder holds, now and after every change. */
async function* statesOf(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  for await (const _ of changesOf(folder, signal)) yield await folderState(folder);
}

/** Deploys; errors are printed, and the next change is deployed again. */
async function attempt(app: DevApp, isFirst: boolean): Promise<Deployed | undefined> {
  try {
    const deployed = await deploy(app);
    const what = isFirst ? 'runs for' : 'runs again for';
    say(`${paint('green', '✓')} ${deployed.name} ${deployed.version} ${what} ${app.account.name}`);
    if (isFirst) say(`  Open ${paint('cyan', app.context.config.origin)} and choose ${deployed.name}.`);
    return deployed;
  } catch (error) {
    if (error instanceof PackageProblem) complainOf(app.folder, error);
    else if (error instanceof RefusalError) {
      const { code, detail, errors = [] } = error.refusal;
      complainOf(
        app.folder,
        new PackageProblem([`${detail ?? code} (${code})`, ...errors.map(({ message }) => message)]),
      );
    } else throw error;
    return undefined;
  }
}
