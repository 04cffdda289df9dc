// Contract 1: a list is `{ items, nextCursor }`, and every list takes `limit` and `cursor` alike.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import type { RouteSpec } from './domain.ts';
import { routes } from './domains.ts';

/** With items, and no list: what a node is to do, and the ranked results of a search, whose shape contract 4 gives. */
const NO_LISTS = ['node.assignments', 'search.query'];

const table: readonly (readonly [string, RouteSpec])[] = Object.entries(routes);
const lists = table.filter(([id, { method, answers }]) => {
  const answer = answers[200];
  const hasItems = answer instanceof z.ZodObject && 'items' in answer.shape;
  return method === 'GET' && hasItems && !NO_LISTS.includes(id);
});

test('there are lists', () => assert.ok(lists.length >= 15, `${lists.length}`));

for (const [id, { query, answers }] of lists) {
  test(`${id} pages like every list`, () => {
    const answer = answers[200];
    assert.ok(answer instanceof z.ZodObject);
    assert.deepEqual(Object.keys(answer.shape), ['items', 'nextCursor']);
    assert.ok(answer.shape.nextCursor.safeParse('x').success && answer.shape.nextCursor.safeParse(null).success);
    const [usual, most] = id === 'apps.logs' ? [200, 1_000] : [50, 200];
    const read = (sent: object) => query?.safeParse(sent) as z.ZodSafeParseResult<Record<string, unknown>> | undefined;
    assert.equal(read({})?.data?.limit, usual);
    assert.deepEqual(read({ limit: String(most), cursor: 'x' })?.data, { limit: most, cursor: 'x' });
    for (const limit of ['0', '-1', '1.5', 'x', String(most + 1)]) assert.equal(read({ limit })?.success, false, limit);
  });
}
