// Who starts first when many want to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from './slots.ts';

test('as many run at the same time as there are places, and who is waited for goes first', async () => {
  const slots = createSlots(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  let awaited = 'none';
  const use = (name: string) =>
    slots.use(
      () => awaited === name,
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      },
    );
  const all = ['a', 'b', 'c', 'd', 'e'].map(use);
  assert.deepEqual(begun, ['a', 'b']);
  awaited = 'e';
  ends.get('a')?.();
  await all[0];
  assert.deepEqual(begun, ['a', 'b', 'e']);
  for (const name of ['b', 'e', 'c', 'd']) {
    while (!ends.has(name)) await new Promise((resolve) => setImmediate(resolve));
    ends.get(name)?.();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['a', 'b', 'e', 'c', 'd']);
});

test('a start that fails gives its place back', async () => {
  const slots = createSlots(1);
  const notAwaited = () => false;
  await assert.rejects(slots.use(notAwaited, () => Promise.reject(new Error('no'))));
  assert.equal(await slots.use(notAwaited, async () => 'yes'), 'yes');
});
