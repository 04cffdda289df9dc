// What a backend uses, in words, and when an app may be said to ask for nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackendResources, noResources, standardResources } from '@platform/contract';
import { asksForNothing, resourceLines } from './resource-words.ts';

const small: BackendResources = { mode: 'automatic', idleSeconds: 60, memoryMiB: 128, cpus: 0.5, pids: 32, diskMiB: 0 };
const big: BackendResources = {
  mode: 'always',
  idleSeconds: 300,
  memoryMiB: 1_536,
  cpus: 2,
  pids: 400,
  diskMiB: 4_096,
};

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

test('how long a backend stays awake is a line where that is long, or longer than before', () => {
  const waking = (idleSeconds: number, before: BackendResources | null = null) =>
    resourceLines({ ...small, idleSeconds }, before).find(({ name }) => name === 'idleSeconds');
  assert.equal(waking(300), undefined, 'as every app');
  assert.deepEqual(
    [waking(3_600)?.text, waking(3_600)?.large],
    ['Stays awake for up to 1 hour after you last used it', true],
  );
  assert.deepEqual(
    [waking(300, small)?.text, waking(300, small)?.before, waking(300, small)?.large],
    ['Stays awake for up to 5 minutes after you last used it', 'now 1 minute', false],
  );
  assert.equal(waking(86_400)?.text, 'Stays awake for up to 1 day after you last used it');
  assert.equal(waking(5_405)?.text, 'Stays awake for up to 91 minutes after you last used it');
  assert.equal(waking(45, { ...small, idleSeconds: 10 })?.before, 'now 10 seconds');
  assert.ok(!resourceLines({ ...big, idleSeconds: 86_400 }).some(({ name }) => name === 'idleSeconds'), 'runs always');
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
  for (const more of [
    { mode: 'always' as const },
    { idleSeconds: 301 },
    { memoryMiB: 257 },
    { cpus: 2 },
    { pids: 65 },
    { diskMiB: 1_025 },
  ])
    assert.ok(!asksForNothing([], { ...standardResources, ...more }), JSON.stringify(more));
});
