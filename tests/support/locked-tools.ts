// Programs that tests use and that are too large for the checkout: a folder with a package.json and a lock file, installed
// once for this lock file into a cache of the user.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';
import { promisify } from 'node:util';

export const TOOLS_CACHE = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'),
  'platform-test-tools',
);

/**
 * @param folder holds package.json and package-lock.json
 * @returns the folder whose node_modules holds what the lock file names
 */
export async function lockedTools(folder: string): Promise<string> {
  const lock = await readFile(path.join(folder, 'package-lock.json'));
  const place = path.join(TOOLS_CACHE, createHash('sha256').update(lock).digest('hex').slice(0, 32));
  if (existsSync(place)) return place;
  await mkdir(TOOLS_CACHE, { recursive: true });
  const fresh = await mkdtemp(path.join(TOOLS_CACHE, 'fresh-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) await cp(path.join(folder, name), path.join(fresh, name));
    const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=optional'];
    await promisify(execFile)('npm', options, { cwd: fresh });
    await rename(fresh, place).catch((error: NodeJS.ErrnoException) => {
      // Another test was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return place;
}
