// A member that is named twice is found wherever it is and however its name is written, and nothing else is taken for one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../tests/support/fast-check.ts';
import { repeatsMember } from './repeated-members.ts';

const isRepeating = (text: string): boolean => repeatsMember(text, JSON.parse(text));

for (const text of [
  ...['{"a":1,"a":1}', '{"a":{"b":1},"a":{}}', '[{"a":1},{"a":1,"\\u0061":1}]', '{"__proto__":1,"__proto__":2}'],
  ...['{"a":[1,{"b":0,"b":0}]}', '{"a:":1,"a:":2}', '{"":0,"":0}'],
])
  test(`found: ${text}`, () => assert.equal(isRepeating(text), true));

for (const text of [
  ...['{"a":1,"b":{"a":1}}', '"{\\"a\\":1,\\"a\\":1}"', '{"__proto__":{"__proto__":1}}', '[]', 'null', ' 1 '],
  ...['{"a:b":":","\\\\":"\\\\\\":"}', '{ "a" : 1 , "b" : [ 2 ] }', '[{"a":1},{"a":1}]'],
])
  test(`none: ${text}`, () => assert.equal(isRepeating(text), false));

test('any JSON of its own names no member twice, and with one more it does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      assert.equal(isRepeating(text), false);
      assert.equal(isRepeating(`{"a":${text},"b":[${text}]}`), false);
      assert.equal(isRepeating(`[{"a":${text},"b":0,"a":${text}}]`), true);
    }),
  );
});
