// The words of the schemas that bring none of their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { schemaWords } from './schema-words.ts';

const shape = z.strictObject({
  summary: z.string().max(3),
  count: z.int().min(2),
  kind: z.enum(['a', 'b']),
  list: z.array(z.string()).min(1),
  own: z.string().regex(/^x$/, 'must be x'),
});

function wordsOf(change: object): string[] {
  const value = { summary: 'abc', count: 2, kind: 'a', list: ['one'], own: 'x', ...change };
  const result = shape.safeParse(value, { error: schemaWords });
  return result.success ? [] : result.error.issues.map(({ message }) => message);
}

for (const [change, words] of [
  [{ summary: undefined }, 'is missing'],
  [{ kind: undefined }, 'is missing'],
  [{ summary: 5 }, 'must be a string'],
  [{ summary: 'long' }, 'must have at most 3 characters'],
  [{ count: 1 }, 'must be at least 2'],
  [{ count: 2.5 }, 'must be a whole number'],
  [{ kind: 'c' }, 'must be "a" or "b"'],
  [{ list: [] }, 'must have at least 1 item'],
  [{ list: null }, 'must be a list'],
  [{ more: 1 }, 'has the unknown member "more"'],
  [{ own: 'y' }, 'must be x'],
] as const) {
  test(`${JSON.stringify(change)}: ${words}`, () => assert.deepEqual(wordsOf(change), [words]));
}

test('a fault without words of its own keeps those of the schema', () => {
  const result = z
    .string()
    .refine(() => false)
    .safeParse('', { error: schemaWords });
  assert.equal(result.success, false);
  assert.equal(result.error?.issues[0]?.message, 'Invalid input');
});
