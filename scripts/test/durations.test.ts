// The order of files in a run, what is kept of the time they took, and what a run says of it.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { checkoutAt } from './changed.ts';
import { CHECKED_IN, keptDurations, longestFirst, readDurations, recordDurations, slowestTable } from './durations.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** Of all test files: more without a record, and the order and the thirds are guesses. */
const MOST_UNRECORDED = 0.1;

test('files run from the longest to the shortest; one without a record counts as the median of its folder', () => {
  const took = (wall: number) => ({ wall, cpu: 1 });
  const known = { 'a/b/one': took(1), 'a/b/two': took(5), 'a/b/three': took(9), 'a/c/four': took(2) };
  const order = longestFirst(['a/b/one', 'a/b/new', 'a/d/new', 'new', 'a/b/three', 'a/c/four', 'a/c/new'], known);
  assert.deepEqual(order, ['a/b/three', 'a/b/new', 'a/d/new', 'new', 'a/c/four', 'a/c/new', 'a/b/one']);
});

test('the record that is checked in names files that exist, and nearly all of them', () => {
  const recorded = Object.keys(readDurations(CHECKED_IN));
  const gone = recorded.filter((file) => !existsSync(path.join(ROOT, file)));
  assert.deepEqual(gone, [], 'moved or removed: move or remove their lines in scripts/test/durations.json');
  const tests = checkoutAt(ROOT).files.filter((file) => file.endsWith('.test.ts'));
  const missing = tests.filter((file) => !recorded.includes(file));
  assert.ok(
    missing.length <= tests.length * MOST_UNRECORDED,
    `npm test -- --record <files> for ${missing.length} files, such as ${missing.slice(0, 10).join(', ')}`,
  );
});

test('a run adds to a record and takes out files that are gone; the record of the machine counts first', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'platform-durations-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const record = keptDurations(path.join(folder, 'cache'));
  const here = 'scripts/test/durations.test.ts';
  const other = 'scripts/test/changed.test.ts';
  recordDurations(record, [{ file: other, wallSeconds: 2, cpuSeconds: 1.26 }]);
  recordDurations(record, [{ file: 'scripts/gone.test.ts', wallSeconds: 2, cpuSeconds: 1 }]);
  recordDurations(record, [{ file: here, wallSeconds: 3, cpuSeconds: 1 }]);
  assert.deepEqual(readDurations(record), { [other]: { wall: 2, cpu: 1.3 }, [here]: { wall: 3, cpu: 1 } });
  const checkedIn = path.join(folder, 'checked-in.json');
  recordDurations(checkedIn, [{ file: here, wallSeconds: 9, cpuSeconds: 9 }]);
  assert.equal(readDurations(checkedIn, record)[here]?.wall, 3);
  writeFileSync(record, '{ "half');
  assert.deepEqual(readDurations(checkedIn, record), { [here]: { wall: 9, cpu: 9 } });
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
