// The order of files in a run, and what a run says of the time they took.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestFirst, slowestTable } from './durations.ts';

test('files run from the longest to the shortest, and unrecorded ones before them, by size', () => {
  const known = { short: { wall: 1, cpu: 1 }, long: { wall: 9, cpu: 1 } };
  const sizes: Readonly<Record<string, number>> = { large: 2_000, small: 10 };
  const order = longestFirst(['short', 'small', 'long', 'large'], known, (file) => sizes[file] ?? 0);
  assert.deepEqual(order, ['large', 'small', 'long', 'short']);
});

test('the end of a run names its twenty slowest files with seconds and processor seconds, and the sum of all', () => {
  const usages = Array.from({ length: 25 }, (_, index) => ({
    file: `${index}.test.ts`,
    wallSeconds: index,
    cpuSeconds: 1,
  }));
  const [title, head, first, ...rest] = slowestTable(usages).split('\n');
  assert.match(title ?? '', /slowest/);
  assert.match(head ?? '', /wall +cpu +file/);
  assert.match(first ?? '', /^ +24\.0 +1\.0 {2}24\.test\.ts$/);
  assert.equal(rest.length, 20);
  assert.match(rest.at(-1) ?? '', /^ +300 +25 {2}all 25 files$/);
});
