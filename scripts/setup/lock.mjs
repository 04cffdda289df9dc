// Keeps two set-ups of one checkout apart: `npm start` twice at once on a fresh clone installs once.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { SetupError, say } from './progress.mjs';

/**
 * Runs `work` while no other set-up of `root` runs, waiting for one that does.
 *
 * The kernel drops the lock when this process ends in whatever way, so it is never stale. `work`
 * gets the open lock file to hand to the programs it runs: if only this process is killed, the next
 * set-up waits for them. It lies outside node_modules, which an install removes.
 *
 * @param {string} root
 * @param {(descriptor: number) => Promise<void>} work
 */
export async function withSetupLock(root, work) {
  const folder = path.join(root, '.platform');
  const file = path.join(folder, 'setup.lock');
  const descriptor = open(folder, file);
  try {
    if (!(await flock(descriptor, ['-n']))) {
      say('Another set-up of this checkout is running; waiting for it.');
      await flock(descriptor, []);
    }
    await work(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function open(folder, file) {
  try {
    fs.mkdirSync(folder, { recursive: true });
    return fs.openSync(file, 'a', 0o644);
  } catch (error) {
    const owner = fs.statSync(path.dirname(folder)).uid;
    throw new SetupError(
      `The set-up must write in ${path.dirname(folder)} and cannot (${error.code}). Run it once as the owner of that folder (user id ${owner}).`,
    );
  }
}

/** The child shares our open file, so the lock that it takes stays when it ends. */
function flock(descriptor, options) {
  return new Promise((resolve, reject) => {
    const child = spawn('flock', ['-x', ...options, '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
    child.once('error', (error) => {
      reject(new SetupError(`The program flock cannot be run (${error.code}): install the package util-linux.`));
    });
    child.once('exit', (code) => resolve(code === 0));
  });
}
