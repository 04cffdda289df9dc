// One folder under development: each of its states becomes a version of the app, and what its backend logs is shown.
import { type Manifest, RefusalError, type UnmetNeed } from '@platform/contract';
import { StartError } from '@platform/core/start';
import { PackageProblem } from '../packaging/package-problem.ts';
import type { SdkFiles } from '../packaging/plan-package.ts';
import { complainOf } from '../publish/package.ts';
import { ratingLines, sayRating } from '../publish/rating.ts';
import { warnOfUnmet } from '../publish/unmet.ts';
import { complain, paint, say } from '../terminal/terminal.ts';
import { packState } from './deploy.ts';
import { reportMissing } from './grants.ts';
import type { Deployed, DevTarget } from './target.ts';
import { takeTurn } from './turn.ts';
import { folderState, statesOf } from './watch.ts';

export interface DevelopedFolder {
  readonly folder: string;
  /** How else permissions are granted. */
  readonly hint: string;
  /** For packages in the making. */
  readonly scratch: string;
  readonly sdk: SdkFiles;
  /** Its files come from a build that may not have ended yet. */
  readonly isBuilt: boolean;
}

interface Lacking extends Pick<Deployed, 'missing'> {
  readonly unmet: readonly UnmetNeed[];
}

export class Development {
  readonly #work: DevelopedFolder;
  /** By app: the id in the manifest may change. */
  readonly #turns = new Map<string, () => void>();
  #logsSince = new Date();
  #logs: { readonly appId: string; end(): Promise<void> } | undefined;
  #isRunning = false;
  #saidWaiting = false;
  #reported = { rating: '', lacks: '', cannot: '' };

  constructor(work: DevelopedFolder) {
    this.#work = work;
  }

  /** Deploys every state of the folder until the signal aborts. */
  async run(target: DevTarget, until: AbortSignal): Promise<void> {
    try {
      for await (const state of statesOf(this.#work.folder, until)) await this.#follow(target, state, until);
    } finally {
      await this.#logs?.end();
      this.#logs = undefined;
      this.#logsSince = new Date();
    }
  }

  end(): void {
    for (const release of this.#turns.values()) release();
  }

  /** Deploys this state; what its author can mend is printed, and the next change is deployed again. */
  async #follow(target: DevTarget, state: string, until: AbortSignal): Promise<void> {
    const { folder } = this.#work;
    try {
      await this.#deploy(target, until);
    } catch (error) {
      const isPackage = error instanceof PackageProblem;
      const problem = isPackage ? error : refusedProblem(error);
      if (problem === undefined || until.aborted) throw error;
      // It was read in the middle of a change, whose end comes next.
      if ((await folderState(folder)) !== state) return;
      if (this.#waitsForBuild(problem)) return;
      complainOf(folder, problem, isPackage ? undefined : 'was refused');
      complain('The next change is tried again. Ctrl-C ends this.');
    }
  }

  async #deploy(target: DevTarget, until: AbortSignal): Promise<void> {
    const { account, origin } = target;
    const { manifest, file } = await packState(this.#work.folder, this.#work);
    const { id, name, version } = manifest;
    if (!this.#turns.has(id)) this.#turns.set(id, await takeTurn(origin, account, id));
    const { problem, missing } = await target.deploy(manifest, file, until);
    if (until.aborted) return;
    // Asked before anything is said, so that no line of the log comes in between.
    const unmet = await target.unmet(manifest);
    if (until.aborted) return;
    const what = `${name} ${version}`;
    if (problem === undefined)
      say(`${paint('green', '✓')} ${what} ${this.#isRunning ? 'runs again' : 'runs'} for ${account}`);
    else say(`${paint('red', '✗')} ${what} is installed for ${account}, but its backend does not run. ${problem}`);
    if (!this.#isRunning) say(`  Open ${paint('cyan', origin)} and choose ${name}.`);
    this.#isRunning = true;
    this.#report(target, manifest, { missing, unmet });
    this.#followLogs(target, manifest.workload === undefined ? undefined : id, until);
  }

  /** Once for its security rating and what is missing, and again when that changes. */
  #report({ origin }: DevTarget, manifest: Manifest, { missing, unmet }: Lacking): void {
    const { id, name } = manifest;
    const rating = ratingLines(manifest).join('\n');
    if (rating !== this.#reported.rating) sayRating(manifest);
    const lacks = JSON.stringify(missing);
    if (missing.length > 0 && lacks !== this.#reported.lacks)
      reportMissing(name, missing, `${origin}/#/settings/apps/${id}`, this.#work.hint);
    const cannot = JSON.stringify(unmet);
    if (cannot !== this.#reported.cannot) warnOfUnmet(name, unmet);
    this.#reported = { rating, lacks, cannot };
  }

  /** The installation stays the same over all versions; of an app without a backend there is nothing to follow. */
  #followLogs(target: DevTarget, appId: string | undefined, until: AbortSignal): void {
    if (this.#logs?.appId === appId) return;
    void this.#logs?.end();
    this.#logs = undefined;
    if (appId === undefined) return;
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, until]);
    const following = target.followLogs(appId, this.#logsSince, signal).catch((error: unknown) => {
      // The platform is just ending.
      if (signal.aborted) return;
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
    const { isBuilt } = this.#work;
    const isWaiting = isBuilt && !this.#isRunning && problems.every((one) => one.endsWith('which is not there.'));
    if (isWaiting && !this.#saidWaiting) say('Waiting for the first build …');
    this.#saidWaiting ||= isWaiting;
    return isWaiting;
  }
}

/** What the author can mend, in words; `undefined` for anything else, such as a platform that cannot answer now. */
function refusedProblem(error: unknown): PackageProblem | undefined {
  if (!(error instanceof RefusalError) || error.refusal.code === 'unavailable') return undefined;
  const { code, detail, errors = [] } = error.refusal;
  return new PackageProblem([`${detail ?? code} (${code})`, ...errors.map(({ message }) => message)]);
}
