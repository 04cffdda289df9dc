// What the log page keeps of a stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry } from '@platform/contract';
import { begun, SHOWN_AT_MOST, withNewer, withOlder } from './log-lines.ts';

const entry = (line: string): LogEntry => ({ at: '2026-11-21T10:00:00.000Z', stream: 'stdout', line });
const many = (count: number) => Array.from({ length: count }, (_, index) => entry(String(index)));

test('every line has a key of its own, whichever side it came in at', () => {
  let log = begun({ items: [entry('b')], missed: 0, older: 'cursor' });
  log = withNewer(log, { items: [entry('c'), entry('d')], missed: 0 });
  log = withOlder(log, [entry('y'), entry('a')], null);
  assert.deepEqual(
    log.lines.map(({ line }) => line),
    ['y', 'a', 'b', 'c', 'd'],
  );
  assert.equal(new Set(log.lines.map(({ key }) => key)).size, 5);
  assert.deepEqual([log.older, log.shortened], [null, false]);
});

test('missing lines leave a remark where they were', () => {
  const log = withNewer(begun({ items: [entry('a')], missed: 0, older: null }), { items: [entry('z')], missed: 1_250 });
  assert.deepEqual(
    log.lines.map(({ stream, line }) => `${stream} ${line}`),
    ['stdout a', 'system 1,250 lines were removed before they could be shown.', 'stdout z'],
  );
});

test('the page stays light: the oldest lines go, and with them the way to older ones', () => {
  const log = withNewer(begun({ items: many(SHOWN_AT_MOST), missed: 0, older: 'cursor' }), {
    items: many(5),
    missed: 0,
  });
  assert.equal(log.lines.length, SHOWN_AT_MOST);
  assert.equal(log.lines.at(-1)?.line, '4');
  assert.deepEqual([log.older, log.shortened], [null, true]);
});
