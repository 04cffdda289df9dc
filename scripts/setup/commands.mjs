// What `npm start`, `./platform` and `npm test` do: each step of the set-up only when it is needed, then the hand-over.
// Runs on the host's Node (18 or later) with nothing installed, so it is plain JavaScript without dependencies.

import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { dependenciesReady, installDependencies } from './dependencies.mjs';
import { buildFrontends, frontendsReady } from './frontends.mjs';
import { handOver } from './hand-over.mjs';
import { withSetupLock } from './lock.mjs';
import { findNode } from './node.mjs';
import { SetupError, say } from './progress.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Commands that hand out what is built: the shell and the default apps to browsers, the SDK to apps. */
const builds = new Set(['setup', 'start', 'package', 'publish', 'dev']);

/** @param {string[]} args of the command line: a command with its arguments */
export function platform(args) {
  return oneLineOnFailure(async () => {
    const node = await prepare(root, { frontends: builds.has(args[0]) && !args.includes('--help') });
    await handOver(root, node, [path.join(root, 'packages/cli/src/main.ts'), ...args]);
  });
}

/** @param {string[]} args test files, folders or patterns, and options of `node --test` */
export function test(args) {
  return oneLineOnFailure(async () => {
    const node = await prepare(root, { frontends: true });
    await handOver(root, node, [path.join(root, 'scripts/run-tests.ts'), ...args]);
  });
}

/** Makes the checkout at `root` ready, with or without what browsers load; resolves with the Node 24 to use. */
export async function prepare(root, { frontends }) {
  if (!dependenciesReady(root) || (frontends && !frontendsReady(root))) {
    await withSetupLock(root, async (lock) => {
      // Another start may have done it while this one waited.
      if (!dependenciesReady(root)) await installDependencies(root, lock);
      if (frontends && !frontendsReady(root)) await buildFrontends(root, findNode(root), lock);
    });
  }
  return findNode(root);
}

async function oneLineOnFailure(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}
