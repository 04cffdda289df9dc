// Python programs that tests use: a requirements file that pins everything, installed once for this file into a cache of the
// user.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import { TOOLS_CACHE } from './locked-tools.ts';

const run = promisify(execFile);

/**
 * @param requirements a file with a version for every package
 * @returns the folder that holds them, for PYTHONPATH
 * @throws Error without Python, its module venv, or a package index
 */
export async function lockedPython(requirements: string): Promise<string> {
  const { stdout: version } = await run('python3', ['-c', 'import sys; print(sys.version)']);
  const what = `${version}${await readFile(requirements, 'utf8')}`;
  const place = path.join(TOOLS_CACHE, `python-${createHash('sha256').update(what).digest('hex').slice(0, 32)}`);
  if (existsSync(place)) return place;
  await mkdir(TOOLS_CACHE, { recursive: true });
  const work = await mkdtemp(path.join(TOOLS_CACHE, 'fresh-'));
  try {
    // Debian's Python has its installer in environments alone, which cannot be moved; what is installed can.
    const [venv, fresh] = [path.join(work, 'venv'), path.join(work, 'packages')];
    await run('python3', ['-m', 'venv', venv]);
    const options = ['--quiet', '--no-deps', '--target', fresh, '--requirement', requirements];
    await run(path.join(venv, 'bin/python'), ['-m', 'pip', 'install', ...options]);
    await rename(fresh, place).catch((error: NodeJS.ErrnoException) => {
      // Another test was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return place;
}
