// Steps of a share of the thread: one at a time, in their order, and the rest of the thread's time is everybody else's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openThreadShare, type ThreadShare } from './thread-share.ts';

const step = (share: ThreadShare, act: () => void, first?: boolean): Promise<void> =>
  new Promise((resolve) => {
    share.take(() => {
      act();
      resolve();
    }, first);
  });

function busy(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

test('who is alone has his step at once', () => {
  const share = openThreadShare(1 / 2);
  let taken = 0;
  share.take(() => {
    taken += 1;
  });
  assert.equal(taken, 1);
  assert.ok(share.isBusy);
});

test('steps come one at a time: those that go first, then in the order in which they were asked for', async () => {
  const share = openThreadShare(1 / 2);
  const order: string[] = [];
  const steps = [
    ...['one', 'two', 'three'].map((name) => step(share, () => order.push(name))),
    step(share, () => order.push('first'), true),
  ];
  await Promise.all(steps);
  assert.deepEqual(order, ['one', 'first', 'two', 'three']);
});

test('steps take no more than their part of the time', async () => {
  const share = openThreadShare(1 / 5);
  const begun = performance.now();
  await Promise.all(Array.from({ length: 10 }, () => step(share, () => busy(4))));
  const elapsed = performance.now() - begun;
  // After the last one nobody waits.
  assert.ok(elapsed >= 9 * 4 * 5, `ten steps of 4 ms took ${elapsed.toFixed()} ms`);
});

test('steps that cost next to nothing hardly wait', async () => {
  const share = openThreadShare(1 / 2);
  let longest = 0;
  for (let count = 0; count < 100; count += 1) {
    const asked = performance.now();
    await step(share, () => undefined);
    longest = Math.max(longest, performance.now() - asked);
  }
  assert.ok(longest < 10_000, `a step waited for ${longest.toFixed()} ms`);
});
