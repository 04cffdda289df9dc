// Which test files a change can reach: those that lean on a changed file (reach.ts), those that guard it
// (rotation.json), and what no test leans on.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { SetupError } from '../setup/progress.mjs';
import type { Checkout } from './imports.ts';
import { readReach } from './reach.ts';
import type { Rotation } from './rotation.ts';
import { type Domains, guards, readDomains } from './territory.ts';

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

/** What a change of any domain or of any page runs: a whole platform, as a person uses it. */
const SMOKE = 'tests/stories/newcomer.test.ts';
/** Of any domain. */
const ROUTE_WALK = 'tests/attack/route-walk.test.ts';

export function selectChanged(
  checkout: Checkout,
  { changed, tests, rotation }: { changed: readonly string[]; tests: readonly string[]; rotation: Rotation },
): Selection {
  const all = { ...checkout, files: [...new Set([...checkout.files, ...changed])] };
  const reach = readReach(all);
  const domains = readDomains(all.files);
  const sources = changed.filter((file) => !file.endsWith('.test.ts'));
  const guarded = (test: string, file: string) => rotation[test]?.guards.some((guard) => guards(guard, file)) ?? false;
  const browserTests = tests.filter((test) => usesBrowser(checkout.root, test));
  const pages = new Map(sources.filter((file) => BUILT.test(file)).map((file) => [file, testsOfPage(file)]));

  /** Those that guard it; where none does, all that have a browser. */
  function testsOfPage(file: string): readonly string[] {
    const guarding = browserTests.filter((test) => guarded(test, file));
    return guarding.length > 0 ? [...guarding, SMOKE] : browserTests;
  }

  const reached = new Set<string>();
  const chosen = tests.filter((test) => {
    const behind = reach(test);
    const reaches = (file: string) =>
      behind.has(file) ||
      EVERYTHING.test(file) ||
      (pages.get(file)?.includes(test) ?? false) ||
      (sources.includes(file) && (guarded(test, file) || isOfDomain(domains, test, file)));
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

/** Whether the file belongs to a domain that the test lies beside, or to any and the test tries them all. */
function isOfDomain(domains: Domains, test: string, file: string): boolean {
  const domain = domains.inCore(file) ?? domains.inContract(file);
  if (domain === undefined) return false;
  return test === ROUTE_WALK || test === SMOKE || test.startsWith(`packages/core/src/${domain}/`);
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
