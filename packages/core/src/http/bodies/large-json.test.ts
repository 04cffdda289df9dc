// What is too large as compact JSON is refused before it is parsed, and nothing that fits ever is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { refuseLargeJson } from './large-json.ts';

function isRefused(text: string, most: number): boolean {
  try {
    refuseLargeJson(text, { most, tooLarge: 'workflow_input_too_large' });
    return false;
  } catch (error) {
    assert.ok(error instanceof RefusalError);
    return true;
  }
}

test('text without escapes, white space and long numbers is measured to the character', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const text = JSON.stringify(JSON.parse(json.replaceAll(/\\./g, 'x')), (_key, value) =>
        typeof value === 'number' || typeof value === 'boolean' || value === null ? 1 : value,
      );
      assert.equal(isRefused(text, text.length), false);
      assert.equal(isRefused(text, text.length - 1), !text.includes('\\'));
    }),
  );
});

test('whatever stands for something that fits is not refused', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, 4), (value, spaces) => {
      const compact = JSON.stringify(value);
      const escaped = compact.replaceAll(
        /[^\x20-\x7e]/g,
        (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      assert.equal(isRefused(escaped, Buffer.byteLength(compact)), false);
      assert.equal(isRefused(JSON.stringify(value, null, spaces), Buffer.byteLength(compact)), false);
    }),
  );
});

for (const [what, text, bytes] of [
  ['a number with many zeros', `1.${'0'.repeat(1_000)}`, 1],
  ['escapes', `"${'\\u0061'.repeat(1_000)}"`, 1_002],
  ['white space', `[${' \t\r\n'.repeat(1_000)}true]`, 6],
] as const) {
  test(`${what} that stand for ${bytes} bytes pass`, () => assert.equal(isRefused(text, bytes), false));
}

test('many short members are refused by what they need', () => {
  const text = JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, 1])));
  assert.equal(isRefused(text, text.length - 1), true);
});
