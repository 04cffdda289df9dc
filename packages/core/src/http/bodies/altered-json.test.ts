// What would come back as something else is refused, and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusalError } from '@platform/contract';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { refuseAlteredJson } from './altered-json.ts';

function isRefused(text: string): boolean {
  try {
    refuseAlteredJson(text);
    return false;
  } catch (error) {
    assert.ok(error instanceof RefusalError);
    return true;
  }
}

for (const text of [
  ...[
    '9007199254740993',
    '[-9007199254740993]',
    '{"a":9007199254740992}',
    '1e400',
    '[-1E+999]',
    `1${'0'.repeat(400)}.5`,
  ],
]) {
  test(`refused: ${text.slice(0, 40)}`, () => assert.equal(isRefused(text), true));
}

for (const text of [
  ...['9007199254740991', '[-9007199254740991,0,-0]', '1e21', '12345678901234567890.5', '5e-324', '1e-400', '0.1e1'],
  ...['{"a":1,"b":{"a":1}}', '"9007199254740993 1e400 {\\"a\\":1,\\"a\\":1}"', '{"__proto__":{"__proto__":1}}'],
  ...['{"9007199254740993":1}', '{"a:b":":","\\\\":"\\\\\\":"}', '[]', 'null', ' 1 ', '{ "a" : 1 , "b" : [ 2 ] }'],
]) {
  test(`kept: ${text.slice(0, 40)}`, () => assert.equal(isRefused(text), false));
}

test('any JSON of exact numbers passes, and with one that is none it does not', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      const isExact = (one: number): boolean => !Number.isInteger(one) || Number.isSafeInteger(one);
      const exact = JSON.stringify(value, (_, one) => (typeof one === 'number' && !isExact(one) ? 0 : one));
      assert.equal(isRefused(exact), false);
      assert.equal(isRefused(`{"a":${exact},"b":[${exact}]}`), false);
      assert.equal(isRefused(`[${text},1e400]`), true);
    }),
  );
});
