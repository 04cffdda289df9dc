// Processor time that a Runtime spends on a list of assignments in which nothing changed: it runs in a process of its
// own, and core is the double of its tests, which hands the same list out again under a new revision.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { makeAssignment, startCoreDouble } from '../../packages/runtime/test-support/core-double.ts';
import { median } from '../machine.ts';

const ROUNDS = 15;
const WARM_UP = 5;

/** @returns the median of several rounds, in milliseconds */
export async function reconcileCpu(installations: number): Promise<number> {
  const core = await startCoreDouble();
  const child = fork(fileURLToPath(new URL('./node.ts', import.meta.url)), [core.origin, core.nodeCredential]);
  const exited = once(child, 'exit');
  try {
    await once(child, 'message');
    const hash = await core.publish({ 'index.mjs': '' });
    const items = Array.from({ length: installations }, () => makeAssignment(hash));
    const times: number[] = [];
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      child.send('begin');
      await once(child, 'message');
      const done = once(child, 'message');
      core.assign(items);
      const [milliseconds]: number[] = await done;
      if (round >= 0 && milliseconds !== undefined) times.push(milliseconds);
    }
    return median(times);
  } finally {
    child.kill('SIGTERM');
    await exited;
    await core.close();
  }
}
