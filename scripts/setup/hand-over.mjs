// Ends the set-up by running the real program: with execve where Node supports it, else as a child whose signals and
// exit status are forwarded. In both cases the program ends with its parent.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

const forwarded = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {string} root the checkout
 * @param {string} node the executable
 * @param {string[]} args
 */
export async function handOver(root, node, args) {
  // Reading our TypeScript and its dependencies anew takes a third of a second at each start.
  const env = { NODE_COMPILE_CACHE: path.join(root, '.platform', 'compile-cache'), ...process.env };
  // An empty one, as some services have, would be a folder for our files; without one the user database says it.
  if (env.HOME === '') delete env.HOME;
  const underNpm = process.env.npm_lifecycle_event !== undefined;
  // Since Node 22.15: no second process in memory, and signals need no forwarding.
  if (typeof process.execve === 'function') {
    // A shell may be closed and leave us running, as nohup means it; npm is only our front door.
    const command = underNpm ? endingWithParent(node, args) : [node, ...args];
    process.execve(command[0], command, env);
  }
  await runAsChild(endingWithParent(node, args), env);
}

/**
 * A command that gets SIGTERM from the kernel when its parent ends, even if that is killed, so that no platform is
 * orphaned. setpriv (util-linux) sets this and executes the program.
 */
function endingWithParent(node, args) {
  const folders = (process.env.PATH ?? '').split(':');
  const setpriv = folders.map((folder) => path.join(folder, 'setpriv')).find((file) => fs.existsSync(file));
  return setpriv === undefined ? [node, ...args] : [setpriv, '--pdeathsig', 'TERM', node, ...args];
}

function runAsChild([program, ...args], env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' });
    const forward = (signal) => child.kill(signal);
    for (const signal of forwarded) process.on(signal, forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of forwarded) process.off(name, forward);
      // The exit code that a shell would report.
      process.exitCode = signal === null ? code : 128 + os.constants.signals[signal];
      resolve();
    });
  });
}
