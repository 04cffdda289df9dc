// The release of the platform that this process is of: version, commit, and a mark of the code as it lies on the disk now. Code
// is loaded as long as a platform runs, when a part is started again, a thread begins, a driver is opened; the mark tells
// whether it is still the code that was started.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import * as path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

export interface Release {
  readonly version: string;
  /** The first twelve digits; `null` where the code is no checkout of git. */
  readonly commit: string | null;
  /** Equal for the same code. Changes with every file of the program, and with every installation of dependencies. */
  readonly mark: string;
}

const ROOT = path.join(import.meta.dirname, '..', '..', '..', '..');
/** Written by npm at each installation. */
const DEPENDENCIES = path.join('node_modules', '.package-lock.json');
const COMMIT_DIGITS = 12;

/** @param root the checkout; default: that of this program */
export function readRelease(root: string = ROOT): Release {
  return { version: manifest.version, commit: commitOf(root), mark: markOf(root) };
}

/** Version and commit, as people read and report them: `0.1.0 (1f2e3d4c5b6a)`. */
export function releaseText({ version, commit }: Pick<Release, 'version' | 'commit'>): string {
  return commit === null ? version : `${version} (${commit})`;
}

/** By name, size and time of each file: reading all of it would take longer than a restart. */
function markOf(root: string): string {
  const mark = createHash('sha256');
  const add = (file: string) => {
    const found = statSync(path.join(root, file), { throwIfNoEntry: false });
    mark.update(`${file} ${found?.size} ${found?.mtimeMs}\n`);
  };
  const packages = path.join(root, 'packages');
  for (const name of readdirSync(packages).sort()) {
    const sources = path.join('packages', name, 'src');
    for (const file of filesBelow(path.join(root, sources)).sort()) add(path.join(sources, file));
    add(path.join('packages', name, 'package.json'));
  }
  add(DEPENDENCIES);
  return mark.digest('hex');
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Read from git's own files: the command may be missing, or refuse a checkout of another user. */
function commitOf(root: string): string | null {
  const git = path.join(root, '.git');
  const read = (file: string): string | null => {
    try {
      return readFileSync(path.join(git, file), 'utf8').trim();
    } catch {
      return null;
    }
  };
  const head = read('HEAD');
  const branch = head === null ? undefined : /^ref: (refs\/\S+)$/.exec(head)?.[1];
  const packed = () => new RegExp(`^([0-9a-f]{40,64}) ${branch}$`, 'm').exec(read('packed-refs') ?? '')?.[1] ?? null;
  const commit = branch === undefined ? head : (read(branch) ?? packed());
  return commit !== null && /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, COMMIT_DIGITS) : null;
}
