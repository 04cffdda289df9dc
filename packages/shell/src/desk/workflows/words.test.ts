// Workflow runs in words.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sizes, span } from './words.ts';

for (const [milliseconds, words] of [
  [-5, '0 ms'],
  [0, '0 ms'],
  [3, '3 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [1_290, '1.2 s'],
  [9_999, '9.9 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [200_000, '3 min 20 s'],
  [3_600_000, '1 h'],
  [18_720_000, '5 h 12 min'],
  [86_399_999, '23 h 59 min'],
  [3 * 86_400_000 + 4 * 3_600_000, '3 d 4 h'],
] as const)
  test(`${milliseconds} milliseconds are ${words}`, () => assert.equal(span(milliseconds), words));

test('sizes name the result once there is one', () => {
  assert.equal(sizes({ inputBytes: 12, resultBytes: null }), 'input 12 bytes');
  assert.equal(sizes({ inputBytes: 1, resultBytes: 1_638 }), 'input 1 byte, result 1.6 KiB');
});
