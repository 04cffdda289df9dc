import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ValueChecks } from './check-values.ts';
import { weightOf } from './schema-weight.ts';

const PLAIN = {
  type: 'object',
  properties: {
    note: { type: 'string', maxLength: 100 },
    kind: { enum: ['a', 'b'] },
    many: { items: { type: 'number' } },
  },
  required: ['note'],
  additionalProperties: false,
};

test('a plain schema weighs what it holds', () => {
  const weight = weightOf(PLAIN);
  assert.ok(weight !== null && weight > 5 && weight < 50, String(weight));
  assert.equal(weightOf(true), 1);
});

for (const [keyword, member] of Object.entries({
  pattern: '^a+$',
  patternProperties: { a: true },
  format: 'email',
  $ref: '#',
  anyOf: [{}],
  oneOf: [{}],
  allOf: [{}],
  not: {},
  if: {},
  uniqueItems: true,
  contains: {},
  prefixItems: [{}],
  propertyNames: {},
  dependentSchemas: { a: {} },
  unevaluatedProperties: false,
  'x-unknown': 1,
}))
  test(`nothing bounds the work of ${keyword}, however deep it is`, () => {
    assert.equal(weightOf({ [keyword]: member }), null);
    assert.equal(weightOf({ properties: { a: { items: { additionalProperties: { [keyword]: member } } } } }), null);
  });

test('members that are no schemas weigh nothing that could be trusted', () => {
  for (const broken of [null, 3, 'a', [], { properties: [] }, { items: [{}] }, { required: 'a' }])
    assert.equal(weightOf(broken), null, JSON.stringify(broken));
});

test('a value is judged the same with and without the timer', () => {
  const checks = new ValueChecks();
  const values = [
    { note: 'milk' },
    { note: 7 },
    {},
    { note: 'milk', other: 1 },
    { note: 'milk', kind: 'c' },
    { note: 'x'.repeat(101) },
    { note: 'milk', many: Array.from({ length: 100_000 }, (_, index) => index) },
    { note: 'milk', many: [1, 'two'] },
  ];
  const judge = () => values.map((value) => checks.check(PLAIN, value, 'acct-a').ok);
  // The first check of a schema is timed.
  assert.deepEqual(judge(), judge());
  assert.deepEqual(judge(), [true, false, false, false, false, false, true, false]);
});
