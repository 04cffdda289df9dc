// `platform dev`: a folder runs as an installed app of a running platform, and again with every change of a file.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { type Grant, RefusalError } from '@platform/contract';
import { StartError } from '@platform/core/start';
import { buildSdk } from '@platform/sdk/build';
import { type Command, UsageError, understood } from '../command.ts';
import { configuration } from '../local/configuration.ts';
import { chooseAccount, withLocalCore } from '../local/local-core.ts';
import { requireRunning } from '../local/require-running.ts';
import { PackageProblem } from '../packaging/package-problem.ts';
import type { SdkFiles } from '../packaging/plan-package.ts';
import { complainOf } from '../publish/package.ts';
import { chooseLogin, ON_OPTION } from '../remote/choose-platform.ts';
import { complain, paint, say } from '../terminal/terminal.ts';
import { hasScript, startWatchScript } from './build.ts';
import { packState } from './deploy.ts';
import { reportMissing } from './grants.ts';
import { localTarget } from './local-target.ts';
import { remoteTarget } from './remote-target.ts';
import type { DevTarget } from './target.ts';
import { takeTurn } from './turn.ts';
import { folderState, statesOf } from './watch.ts';

export const devCommand: Command = {
  summary: 'run a folder as an app and reload it on every change',
  usage: `Usage: ./platform dev [folder] [--grant-all] [--as <account> | --on <address>]

Installs the folder (default: this one) as the app <id>-dev of an account (default: the only account) in the platform that
runs on this machine, or with --on in one that you signed in to with ./platform login. It runs with the real Gateway and
sandbox beside the published app, with its own data. When a file changes, it gets a new version and its backend starts again;
its log is shown here. If package.json has the script "watch", that runs too. Ctrl-C ends it; the app stays until you remove it.
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
    const login = chooseLogin(values.on, values.as);
    const grantAll = values['grant-all'];
    if (login !== null && grantAll)
      throw new UsageError(
        '--grant-all is for the platform on this machine: a login cannot grant permissions. Grant them in Settings → Apps.',
      );
    const ending = new AbortController();
    const end = () => ending.abort();
    process.once('SIGINT', end).once('SIGTERM', end);
    const { signal } = ending;
    const work = { folder, signal, hint: login === null ? ', or run this with --grant-all.' : '.' };
    if (login !== null) await develop(remoteTarget(login), work);
    else {
      const config = configuration();
      await requireRunning(config);
      await withLocalCore(config, async (context) => {
        const account = await chooseAccount(context, values.as);
        await develop(localTarget({ context, account, grantAll, signal }), work);
      });
    }
    return 0;
  },
};

interface Work {
  readonly folder: string;
  readonly signal: AbortSignal;
  /** How else permissions are granted. */
  readonly hint: string;
}

async function develop(target: DevTarget, work: Work): Promise<void> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'platform-dev-'));
  const development = new Development(target, work, { scratch, sdk: await buildSdk() });
  const endBuild = (await hasScript(work.folder, 'watch')) ? startWatchScript(work.folder) : undefined;
  development.isBuilt = endBuild !== undefined;
  try {
    for await (const state of statesOf(work.folder, work.signal)) await development.follow(state);
  } finally {
    await endBuild?.();
    await development.end();
    await rm(scratch, { recursive: true, force: true });
  }
}

class Development {
  /** Its files come from a build that may not have ended yet. */
  isBuilt = false;
  readonly #target: DevTarget;
  readonly #work: Work;
  readonly #packing: { readonly scratch: string; readonly sdk: SdkFiles };
  readonly #began = new Date();
  /** By app: the id in the manifest may change. */
  readonly #turns = new Map<string, () => void>();
  #logs: { readonly appId: string; end(): Promise<void> } | undefined;
  #isRunning = false;
  #saidWaiting = false;
  #reported = '';

  constructor(target: DevTarget, work: Work, packing: { readonly scratch: string; readonly sdk: SdkFiles }) {
    this.#target = target;
    this.#work = work;
    this.#packing = packing;
  }

  /** Deploys this state; errors are printed, and the next change is deployed again. */
  async follow(state: string): Promise<void> {
    const { folder } = this.#work;
    try {
      await this.#deploy();
    } catch (error) {
      const problem = problemOf(error);
      if (problem === undefined) throw error;
      // It was read in the middle of a change, whose end comes next.
      if ((await folderState(folder)) !== state) return;
      if (this.#waitsForBuild(problem)) return;
      complainOf(folder, problem);
    }
  }

  async end(): Promise<void> {
    await this.#logs?.end();
    for (const release of this.#turns.values()) release();
  }

  async #deploy(): Promise<void> {
    const { account, origin } = this.#target;
    const { manifest, file } = await packState(this.#work.folder, this.#packing);
    const { id, name, version } = manifest;
    if (!this.#turns.has(id)) this.#turns.set(id, await takeTurn(origin, account, id));
    const missing = await this.#target.deploy(manifest, file);
    if (this.#work.signal.aborted) return;
    say(`${paint('green', '✓')} ${name} ${version} ${this.#isRunning ? 'runs again' : 'runs'} for ${account}`);
    if (!this.#isRunning) say(`  Open ${paint('cyan', origin)} and choose ${name}.`);
    this.#isRunning = true;
    this.#report(id, name, missing);
    await this.#followLogs(manifest.workload === undefined ? undefined : id);
  }

  /** Once for what is missing, and again when that changes. */
  #report(id: string, name: string, missing: readonly Grant[]): void {
    const what = JSON.stringify(missing);
    if (missing.length > 0 && what !== this.#reported)
      reportMissing(name, missing, `${this.#target.origin}/#/settings/apps/${id}`, this.#work.hint);
    this.#reported = what;
  }

  /** The installation stays the same over all versions; of an app without a backend there is nothing to follow. */
  async #followLogs(appId: string | undefined): Promise<void> {
    if (this.#logs?.appId === appId) return;
    await this.#logs?.end();
    this.#logs = undefined;
    if (appId === undefined) return;
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, this.#work.signal]);
    const following = this.#target.followLogs(appId, this.#began, signal).catch((error: unknown) => {
      if (!(error instanceof StartError)) throw error;
      complain(`platform: ${error.message}`);
    });
    this.#logs = {
      appId,
      end: () => {
        ending.abort();
        return following;
      },
    };
  }

  /** Before the first build there are no files: no mistake of anybody. */
  #waitsForBuild({ problems }: PackageProblem): boolean {
    const isWaiting = this.isBuilt && !this.#isRunning && problems.every((one) => one.endsWith('which is not there.'));
    if (isWaiting && !this.#saidWaiting) say('Waiting for the first build …');
    this.#saidWaiting ||= isWaiting;
    return isWaiting;
  }
}

/** What the author can mend, in words; `undefined` for anything else. */
function problemOf(error: unknown): PackageProblem | undefined {
  if (error instanceof PackageProblem) return error;
  if (!(error instanceof RefusalError)) return undefined;
  const { code, detail, errors = [] } = error.refusal;
  return new PackageProblem([`${detail ?? code} (${code})`, ...errors.map(({ message }) => message)]);
}
