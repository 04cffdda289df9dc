// Which test files a change can reach: those that lean on a changed file (imports.ts), and what no test leans on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { SetupError } from '../setup/progress.mjs';
import { type Checkout, readImports } from './imports.ts';

export interface Selection {
  /** Test files that lean on something that changed. */
  readonly tests: readonly string[];
  /** Test files that do not. */
  readonly leftOut: readonly string[];
  /** Changed files that no test leans on. */
  readonly untested: readonly string[];
}

/** A change of these can reach any test: versions of what is not ours, and how files are run. */
const EVERYTHING =
  /^(?:package\.json|package-lock\.json|tsconfig\.json|\.ci\/|scripts\/(?:test|setup)\/[^/]+(?<!\.test)\.(?:ts|mjs)$|scripts\/[^/]+$)/;

/** What browsers load is built from these, and no test names them. */
const BUILT = /^(?:packages\/(?:shell|sdk)\/(?:src|build)|apps\/|examples\/).*(?<!\.test\.ts)$/;

/** These read all modules and manifests and name none of them. */
const OF_STRUCTURE = /^tests\/structure\/.*\.test\.ts$/;
const STRUCTURE = /\.(?:ts|tsx|mts|mjs|js)$|(?:^|\/)package\.json$|^biome\.json$/;

export function selectChanged(checkout: Checkout, changed: readonly string[], tests: readonly string[]): Selection {
  const imports = readImports({ ...checkout, files: [...new Set([...checkout.files, ...changed])] });
  const reached = new Set<string>();
  const chosen = tests.filter((test) => {
    const behind = imports.behind(test);
    const browser = usesBrowser(checkout.root, test);
    const reaches = (file: string) => behind.has(file) || EVERYTHING.test(file) || (browser && BUILT.test(file));
    const hits = changed.filter(reaches);
    for (const file of hits) reached.add(file);
    return hits.length > 0 || (OF_STRUCTURE.test(test) && changed.some((file) => STRUCTURE.test(file)));
  });
  return {
    tests: chosen,
    leftOut: tests.filter((test) => !chosen.includes(test)),
    untested: changed.filter((file) => !reached.has(file)),
  };
}

/** Whether a test file of the checkout needs Chromium. */
export function usesBrowser(root: string, test: string): boolean {
  if (test.startsWith('tests/browser/')) return true;
  const text = readFileSync(path.join(root, test), 'utf8');
  return /from '(playwright-core|[^']*\/chromium\.ts|[^']*\/browser\.ts)'/.test(text);
}

/**
 * What differs from `ref` in the working tree, new files and removed ones included.
 *
 * @param ref default: where the branch left main; on main itself the last commit
 */
export function changedSince(root: string, ref: string | undefined): { since: string; files: string[] } {
  const since = ref ?? whereItLeftMain(root);
  const differing = lines(git(root, ['diff', '--name-only', '--no-renames', since, '--']));
  const untracked = lines(git(root, ['ls-files', '--others', '--exclude-standard']));
  return { since, files: [...new Set([...differing, ...untracked])].sort() };
}

export function checkoutAt(root: string): Checkout {
  return { root, files: lines(git(root, ['ls-files', '--cached', '--others', '--exclude-standard'])) };
}

function whereItLeftMain(root: string): string {
  for (const main of ['origin/main', 'main']) {
    try {
      return git(root, ['merge-base', 'HEAD', main]).trim();
    } catch {
      // This checkout knows no such branch.
    }
  }
  return 'HEAD';
}

function git(root: string, args: readonly string[]): string {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1e8,
    });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new SetupError(`git ${args.slice(0, 2).join(' ')} failed, so what changed is not known: ${said}`);
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean);
}
