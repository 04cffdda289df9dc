// The words of the schemas that bring none of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { permissionId } from './domains/grants.ts';
import { fieldErrors, formFault, notValid } from './field-errors.ts';
import { schemaWords } from './schema-words.ts';

const shape = z.strictObject({
  summary: z.string().max(3),
  count: z.int().min(2),
  kind: z.enum(['a', 'b']),
  list: z.array(z.string()).min(1),
  own: z.string().regex(/^x$/, 'must be x'),
  either: z.union([z.int(), z.literal('auto')]),
  tagged: z.discriminatedUnion('in', [
    z.strictObject({ in: z.literal('header') }),
    z.strictObject({ in: z.literal('query') }),
  ]),
  names: z.record(z.string().regex(/^[A-Z]+$/, 'must be upper-case'), z.string()),
  code: z.string().length(3),
});

function wordsOf(change: object): string[] {
  const value = {
    summary: 'abc',
    count: 2,
    kind: 'a',
    list: ['one'],
    own: 'x',
    either: 'auto',
    tagged: { in: 'query' },
    names: { UPPER: 'x' },
    code: 'abc',
    ...change,
  };
  const result = shape.safeParse(value, { error: schemaWords });
  return result.success ? [] : result.error.issues.map(({ message }) => message);
}

for (const [change, ...words] of [
  [{ summary: undefined }, 'is missing'],
  [{ kind: undefined }, 'is missing'],
  [{ summary: 5 }, 'must be a string'],
  [{ summary: 'long' }, 'must have at most 3 characters'],
  [{ count: 1 }, 'must be at least 2'],
  [{ count: 2.5 }, 'must be a whole number'],
  [{ kind: 'c' }, 'must be "a" or "b"'],
  [{ list: [] }, 'must not be empty'],
  [{ list: null }, 'must be a list'],
  [{ more: 1 }, 'has the unknown member "more"'],
  [{ summary: undefined, sumary: 'abc' }, 'is missing', 'has the unknown member "sumary" (did you mean "summary"?)'],
  [{ either: 'many' }, 'must be a whole number or "auto"'],
  [{ tagged: { in: 'body' } }, 'must be "header" or "query"'],
  [{ names: { lower: 'x' } }, 'cannot have this name: it must be upper-case'],
  [{ code: 'abcd' }, 'must have exactly 3 characters'],
  [{ own: 'y' }, 'must be x'],
] as const) {
  test(`${JSON.stringify(change)}: ${words.join('; ')}`, () => assert.deepEqual(wordsOf(change), words));
}

test('a schema says these words wherever it is read, without being asked to', () => {
  assert.equal(z.string().safeParse(5).error?.issues[0]?.message, 'must be a string');
  assert.throws(
    () => z.strictObject({ items: z.array(z.string()) }).parse({ items: [1] }),
    (error: z.ZodError) => formFault(error) === 'it has another form: `items[0]` must be a string',
  );
});

test('a refinement without words of its own says no more than that', () => {
  const result = z
    .string()
    .refine(() => false)
    .safeParse('', { error: schemaWords });
  assert.equal(result.error?.issues[0]?.message, 'is not valid');
});

test('many unknown members with long names give a short sentence', () => {
  const members = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`${'long'.repeat(500)}${index}`, 1]),
  );
  const [words = ''] = wordsOf(members);
  assert.match(words, / and 19995 more$/);
  assert.ok(words.length < 600, String(words.length));
});

test('a permission that does not exist brings those that were probably meant', () => {
  const wordsFor = (id: string) => permissionId.safeParse(id, { error: schemaWords }).error?.issues[0]?.message;
  assert.equal(wordsFor('notification.publish'), 'is not a permission (did you mean "notifications.publish"?)');
  assert.equal(
    wordsFor('notifications.send'),
    'is not a permission (did you mean "notifications.publish" or "notifications.read"?)',
  );
  assert.equal(wordsFor('camera'), 'is not a permission');
});

test('a refusal says its first fault, counts the rest, and says each once', () => {
  const { error } = shape.safeParse({ summary: ['a', 'b', 'c', 'd'], count: 1 }, { error: schemaWords });
  const errors = fieldErrors(error as z.ZodError, ['app']);
  assert.equal(errors.filter(({ path }) => path === 'app.summary').length, 1);
  const { detail } = notValid('The body', errors).refusal;
  assert.equal(detail, `The body is not valid: \`app.summary\` must be a string (and ${errors.length - 1} more).`);
  const whole = shape.safeParse(5, { error: schemaWords }).error as z.ZodError;
  assert.equal(notValid('The body', fieldErrors(whole)).refusal.detail, 'The body is not valid: it must be an object.');
});
