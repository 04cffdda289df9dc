// What a backend uses, in words, and when an app may be said to ask for nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackendResources, noResources, standardResources } from '@platform/contract';
import { asksForNothing, resourceLines } from './resource-words.ts';

const small: BackendResources = { mode: 'automatic', memoryMiB: 128, cpus: 0.5, pids: 32, diskMiB: 0 };
const big: BackendResources = { mode: 'always', memoryMiB: 1_536, cpus: 2, pids: 400, diskMiB: 4_096 };

test('each resource is a line; what there is none of, and ordinary counts of processes, are left out', () => {
  assert.deepEqual(
    resourceLines(small).map(({ text, large }) => [text, large]),
    [
      ['Runs only while it is used', false],
      ['Up to 128 MiB of memory', false],
      ['Up to 50 % of one processor', false],
    ],
  );
  assert.deepEqual(
    resourceLines(big).map(({ text, large }) => [text, large]),
    [
      ['Runs all the time, even while you don’t use it', true],
      ['Up to 1.5 GiB of memory', true],
      ['Keeps up to 4 GiB of data on the server', true],
      ['Up to 2 processors', true],
      ['Up to 400 processes at a time', true],
    ],
  );
});

test('what goes beyond the former says what that was', () => {
  assert.deepEqual(
    resourceLines({ ...big, cpus: 0.5 }, small).map(({ name, more, before }) => [name, more, before]),
    [
      ['mode', true, 'now only while it is used'],
      ['memoryMiB', true, 'now 128 MiB'],
      ['diskMiB', true, 'now none'],
      ['cpus', false, null],
      ['pids', true, 'now 32'],
    ],
  );
  assert.ok(
    resourceLines(small, noResources).every(({ before }) => before === null),
    'a first backend had nothing',
  );
});

test('an app asks for nothing only if it asks for no permission and for no more of the server than any backend', () => {
  assert.ok(asksForNothing([], null));
  assert.ok(asksForNothing([], standardResources));
  assert.ok(asksForNothing([], { ...standardResources, diskMiB: 1_024 }));
  assert.ok(!asksForNothing([{}], null));
  for (const more of [{ mode: 'always' as const }, { memoryMiB: 257 }, { cpus: 2 }, { pids: 65 }, { diskMiB: 1_025 }])
    assert.ok(!asksForNothing([], { ...standardResources, ...more }), JSON.stringify(more));
});
