// Members of a body are found in its bytes as `JSON.parse` finds them, and changing one changes nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../../tests/support/fast-check.ts';
import { elementCount, findMembers, memberValue, UnreadableBody, withMembers } from './json-members.ts';

const names = new Set(['model', 'stream', 'limit']);
const object = fc.dictionary(fc.oneof(fc.constantFrom('model', 'stream', 'limit'), fc.string()), fc.jsonValue());
/** How anybody may write the same. */
const written = fc.record({ object, space: fc.constantFrom(undefined, 1, 2, '\t') });
const isAmbiguous = (keys: readonly string[]) => keys.some((key) => !names.has(key) && names.has(key.toLowerCase()));

test('the value of every member is that of JSON.parse, however it is written', async () => {
  await fc.assert(
    fc.asyncProperty(written, async ({ object: value, space }) => {
      fc.pre(!isAmbiguous(Object.keys(value)));
      const text = JSON.stringify(value, null, space);
      const members = await findMembers(Buffer.from(text), names);
      const expected = JSON.parse(text);
      for (const name of names)
        assert.deepEqual(memberValue(members, name), Object.hasOwn(expected, name) ? expected[name] : undefined);
    }),
  );
});

test('a body with members set is the same object with those members', async () => {
  await fc.assert(
    fc.asyncProperty(written, fc.jsonValue(), async ({ object: value, space }, set) => {
      fc.pre(!isAmbiguous(Object.keys(value)));
      const text = JSON.stringify(value, null, space);
      const changed = withMembers(await findMembers(Buffer.from(text), names), { limit: set, stream: true });
      const expected = JSON.parse(text);
      assert.deepEqual(
        JSON.parse(changed.toString()),
        JSON.parse(JSON.stringify({ ...expected, limit: set, stream: true })),
      );
    }),
  );
});

test('what JSON.parse refuses within reach of a member is refused, and nothing else fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ \n01emodlstru/') }), async (text) => {
      const found = await findMembers(Buffer.from(text), names).catch((error: unknown) => error);
      assert.ok(!(found instanceof Error) || found instanceof UnreadableBody, String(found));
      if (isObject(text) && found instanceof UnreadableBody) assert.match(found.message, /once, in this spelling/);
    }),
  );
});

const MANY = 500_000;
for (const [what, body] of Object.entries({
  'a string of escaped quotes': `{"a":"${'\\"'.repeat(MANY)}"}`,
  'a list of lists': `{"a":[${'[],'.repeat(MANY)}1]}`,
  'a list of texts': `{"a":[${'"",'.repeat(MANY)}1]}`,
  'an object of members': `{"a":{${'"b":1,'.repeat(MANY)}"c":2}}`,
  'a key of escaped quotes': `{"${'\\"'.repeat(MANY)}":1}`,
})) {
  test(`others get their turn while ${what} is read`, async () => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await findMembers(Buffer.from(body), names);
    isOver = true;
    assert.ok(turns > 1, `${turns} turns`);
  });
}

test('an outermost object of very many members is refused', async () => {
  const body = Buffer.from(`{${'"a":1,'.repeat(MANY)}"b":2}`);
  await assert.rejects(findMembers(body, names), UnreadableBody);
});

test('a member that is looked for is not read when it is long', async () => {
  const members = await findMembers(Buffer.from(`{"model":[${'{},'.repeat(MANY)}1]}`), names);
  assert.throws(() => memberValue(members, 'model'), UnreadableBody);
});

test('texts of a list are counted, and a list of numbers is one text', async () => {
  for (const [list, expected] of [
    ['[]', 1],
    ['"a"', 1],
    ['[1,2,3]', 1],
    ['["a"]', 1],
    ['["a", "b,]" ,"c"]', 3],
    ['[[1,2],[3]]', 2],
    [`[${'"a",'.repeat(100)}"a"]`, 11],
  ] as const) {
    const members = await findMembers(Buffer.from(`{"model":${list}}`), names);
    assert.equal(await elementCount(members, 'model', 10), expected, list);
  }
});

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
