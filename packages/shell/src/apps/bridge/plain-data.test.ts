// What an app may send at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainObject, MESSAGE_LIMITS, requirePlainData } from './plain-data.ts';

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { inner: nested(depth - 1) };
}

const cycle: Record<string, unknown> = {};
cycle.self = cycle;

const refused: readonly (readonly [string, unknown, string])[] = [
  ['a map', new Map([['a', 1]]), 'invalid_request'],
  ['a date', new Date(0), 'invalid_request'],
  ['a buffer', new ArrayBuffer(8), 'invalid_request'],
  ['a buffer deep inside', { list: [{ bytes: new Uint8Array(4) }] }, 'invalid_request'],
  ['a file alone', new Blob(['x']), 'invalid_request'],
  ['a file deep inside', { list: [new Blob(['x'])] }, 'invalid_request'],
  ['not a number', { n: Number.NaN }, 'invalid_request'],
  ['an infinite number', Number.POSITIVE_INFINITY, 'invalid_request'],
  ['a big integer', 1n, 'invalid_request'],
  ['a cycle', cycle, 'payload_too_large'],
  ['one level too deep', nested(MESSAGE_LIMITS.depth + 1), 'payload_too_large'],
  ['one character too many', 'x'.repeat(MESSAGE_LIMITS.characters + 1), 'payload_too_large'],
  ['long names', { ['k'.repeat(MESSAGE_LIMITS.characters + 1)]: 1 }, 'payload_too_large'],
  ['many small values', Array.from({ length: MESSAGE_LIMITS.nodes }, () => 0), 'payload_too_large'],
];

for (const [name, value, code] of refused) {
  test(`${name} is refused with ${code}`, () => {
    assert.throws(() => requirePlainData(value), { name: 'BridgeRefusal', code });
  });
}

test('JSON data up to every limit passes', () => {
  requirePlainData(undefined);
  requirePlainData(null);
  requirePlainData({ file: new Blob(['x'.repeat(MESSAGE_LIMITS.characters + 1)]) });
  requirePlainData(nested(MESSAGE_LIMITS.depth));
  requirePlainData('x'.repeat(MESSAGE_LIMITS.characters));
  requirePlainData(Array.from({ length: MESSAGE_LIMITS.nodes - 1 }, () => true));
});

test('a sparse array of huge length costs no walk over its holes', () => {
  const sparse: unknown[] = [];
  sparse.length = 4_000_000_000;
  assert.throws(() => requirePlainData(sparse), { code: 'payload_too_large' });
});

test('instances of classes are no plain objects, even with the members of one', () => {
  class Lookalike {
    readonly id = 1;
  }
  assert.equal(isPlainObject(new Lookalike()), false);
  assert.equal(isPlainObject([]), false);
  assert.equal(isPlainObject(null), false);
  assert.equal(isPlainObject(Object.create(null)), true);
});
