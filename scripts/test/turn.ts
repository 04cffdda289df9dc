// Whose turn it is: which third of the rotation an ordinary run tries, and on which device. The record of runs that passed
// decides, in a folder of this machine outside of the checkout. Only runs of commits that HEAD contains count, so runs of
// other branches leave out nothing here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { SetupError } from '../setup/progress.mjs';
import { THIRDS, type Third } from './rotation.ts';

export const DEVICES = ['desktop', 'phone'] as const;
export type Device = (typeof DEVICES)[number];

export interface Turn {
  readonly third: Third;
  readonly device: Device;
  /** For random cases: another one for each commit, or for each number that was given. */
  readonly number: number;
  /** The commit of the run before; without one, where the branch left main, or the commit before HEAD. */
  readonly since: string | undefined;
  /** What decided, as a part of a sentence. */
  readonly by: string;
}

/** A run that passed. */
export interface PassedRun {
  readonly commit: string;
  readonly third: Third;
  readonly device: Device;
  /** Whether a test that was skipped would have failed it. */
  readonly judged: boolean;
}

const KEPT_RUNS = 300;

/** Where figures and turns are kept between runs: `PLATFORM_TEST_CACHE`, by default in the user's cache folder. */
export function cacheFolder(): string {
  const { PLATFORM_TEST_CACHE: given, XDG_CACHE_HOME: caches } = process.env;
  return given ?? path.join(caches ?? path.join(os.homedir(), '.cache'), 'platform-test');
}

/** The runs of this machine that passed, the oldest first. */
export function readRuns(folder = cacheFolder()): readonly PassedRun[] {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'runs.json'), 'utf8'));
  } catch {
    // The first run here, or one that was killed while it wrote.
    return [];
  }
}

export function recordRun(run: PassedRun, folder = cacheFolder()): void {
  mkdirSync(folder, { recursive: true });
  const runs = [...readRuns(folder), run].slice(-KEPT_RUNS);
  writeFileSync(path.join(folder, 'runs.json'), `[\n${runs.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
}

export function headOf(root: string): string | undefined {
  return git(root, 'rev-parse', '--verify', 'HEAD');
}

/**
 * @param given `PLATFORM_TEST_TURN`: a number that grows by one with each run; 1, 2 and 3 are the thirds on a desktop, 4, 5
 * and 6 the same on a phone, and so on
 */
export function turnOf(
  root: string,
  { given, runs, judged }: { given: string | undefined; runs: readonly PassedRun[]; judged: boolean },
): Turn {
  const counted = runs.filter((run) => run.judged || !judged);
  const contained = new Map<string, boolean>();
  for (const { commit } of counted)
    if (!contained.has(commit)) contained.set(commit, git(root, 'merge-base', '--is-ancestor', commit, 'HEAD') === '');
  const before = counted.filter(({ commit }) => contained.get(commit));
  const commits = Number(git(root, 'rev-list', '--count', 'HEAD') ?? 0);
  const since = before.at(-1)?.commit ?? withoutRecord(root);
  if (given !== undefined) {
    if (!/^[1-9]\d*$/.test(given))
      throw new SetupError('PLATFORM_TEST_TURN needs a number: 1, 2, 3 or that of the run.');
    return { ...numbered(Number(given)), number: Number(given), since, by: 'PLATFORM_TEST_TURN decides' };
  }
  if (before.length === 0) {
    const by = 'no run of this line of commits has passed here, so their count decides';
    return { ...numbered(commits + 1), number: commits, since, by };
  }
  const latest = (third: Third) => before.findLastIndex((run) => run.third === third);
  const [third = 1] = [...THIRDS].sort((one, other) => latest(one) - latest(other));
  const device = before[latest(third)]?.device === 'desktop' ? 'phone' : 'desktop';
  return { third, device, number: commits, since, by: 'of the thirds, its last run here was the longest ago' };
}

function numbered(number: number): Pick<Turn, 'third' | 'device'> {
  const index = number - 1;
  return {
    third: THIRDS[index % THIRDS.length] ?? 1,
    device: DEVICES[Math.floor(index / THIRDS.length) % DEVICES.length] ?? 'desktop',
  };
}

/** Nothing says how many commits a landing brought: on main itself only the last one counts. */
function withoutRecord(root: string): string | undefined {
  const head = headOf(root);
  for (const main of ['origin/main', 'main']) {
    const left = git(root, 'merge-base', 'HEAD', main);
    if (left !== undefined && left !== head) return left;
  }
  return git(root, 'rev-parse', '--verify', 'HEAD~1');
}

/** What git says; undefined where it fails or is not there. */
function git(root: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
