// Conditional and partial requests, case by case of RFC 9110.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noneMatchHits, rangeOf } from './conditions.ts';

const etag = '"abc"';

for (const [header, hit] of [
  [undefined, false],
  ['', false],
  ['"abc"', true],
  ['W/"abc"', true],
  ['"x", "abc" , "y"', true],
  ['*', true],
  [' * ', true],
  ['abc', false],
  ['"abcd"', false],
  ['"ABC"', false],
  ['"x,\\"abc"', false],
] as const) {
  test(`If-None-Match ${header ?? 'absent'} ${hit ? 'spares' : 'does not spare'} the body`, () => {
    assert.equal(noneMatchHits(header, etag), hit);
  });
}

for (const [range, expected] of [
  [undefined, 'whole'],
  ['bytes=0-', { start: 0, end: 9 }],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['BYTES=2-5', { start: 2, end: 5 }],
  ['bytes=5-99', { start: 5, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=99999999999999999999-', 'unsatisfiable'],
  ['bytes=5-4', 'whole'],
  ['bytes=99-98', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=0-1,3-4', 'whole'],
  ['bytes= 0-1', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=--1', 'whole'],
  ['lines=0-1', 'whole'],
] as const) {
  test(`Range ${range ?? 'absent'} of ten bytes gives ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(rangeOf({ range }, { etag, size: 10 }), expected);
  });
}

test('a range counts only while the representation is the one the client has', () => {
  const range = 'bytes=0-1';
  assert.deepEqual(rangeOf({ range, 'if-range': etag }, { etag, size: 10 }), { start: 0, end: 1 });
  for (const other of ['"other"', 'W/"abc"', 'Sat, 21 Nov 2026 10:00:00 GMT'])
    assert.equal(rangeOf({ range, 'if-range': other }, { etag, size: 10 }), 'whole');
});

test('an empty file has no range', () => {
  assert.equal(rangeOf({ range: 'bytes=0-' }, { etag, size: 0 }), 'unsatisfiable');
  assert.equal(rangeOf({ range: 'bytes=-1' }, { etag, size: 0 }), 'unsatisfiable');
});
