// Every list of the route table in pages: small ones hold together what a large one holds, once each and in its order.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RouteSpec, routes } from '@platform/contract';
import * as z from 'zod';
import { type Cast, makeCast } from '../../../../tests/support/cast.ts';
import { signIn } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { cursorCodec } from './cursor.ts';
import { listPage } from './list-page.ts';

const APP = 'castowner-mighty';

let platform: Constellation;
let cast: Cast;
let workflowId: string;

before(async () => {
  platform = await startConstellation({ config: { masterAccount: 'castowner' } });
  cast = await makeCast(platform);
  const { account } = cast;
  for (const name of ['one', 'two', 'three'])
    await account.fetch(`/v1/account/secrets/${name}`, { method: 'PUT', body: { value: name } });
  await signIn(platform, account.authenticator);
  const asApp = async (path: string, body: object) => {
    const headers = { ...cast.credentials('installation'), 'content-type': 'application/json' };
    const answer = await cast.send({ method: 'POST', path, headers, body: JSON.stringify(body) });
    assert.ok(answer.status < 300, answer.text);
    return answer.json as { readonly run?: { readonly id: string } };
  };
  for (const topic of ['a', 'b', 'c']) await asApp('/v1/services/notifications', { topic, title: topic });
  for (const key of ['a', 'b', 'c']) {
    const run = { definition: 'd', version: 1, idempotencyKey: key, input: {}, durationSeconds: 60 };
    workflowId = (await asApp('/v1/services/workflows', run)).run?.id ?? '';
  }
});
after(() => platform.close());

const table: readonly (readonly [string, RouteSpec])[] = Object.entries(routes);
/** A log is on a node, messages are in a conversation and items in a collection; one app manages schedules. Their own tests have these. */
const elsewhere = (id: string, { path, systemRole }: RouteSpec) =>
  id === 'apps.logs' ||
  id === 'services.messaging.messages' ||
  path.includes('/collections/:id/') ||
  systemRole !== undefined;
const lists = table.filter(([id, spec]) => {
  const answer = spec.answers[200];
  return answer instanceof z.ZodObject && 'nextCursor' in answer.shape && !elsewhere(id, spec);
});

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

for (const [id, { path, callers }] of lists) {
  test(`${id} holds everything once, page by page`, async () => {
    const [kind = 'anonymous'] = callers;
    const target = path.replace(':appId', APP).replace(':workflowId', workflowId);
    const ask = (query: string) => cast.send({ path: `${target}?${query}`, headers: cast.credentials(kind) });
    const read = async (query: string): Promise<Page> => {
      const answer = await ask(query);
      assert.equal(answer.status, 200, answer.text);
      return answer.json as Page;
    };
    const whole = await read('limit=200');
    assert.equal(whole.nextCursor, null);
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: Page = await read(cursor === null ? 'limit=1' : `limit=1&cursor=${cursor}`);
      assert.ok(page.items.length <= 1);
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, whole.items);
    assert.equal(problemCode(await ask('cursor=AAAA')), 'invalid_cursor');
    assert.equal(problemCode(await ask('limit=201')), 'invalid_request');
  });
}

test('the next page begins after the last item of the former one, also when items before it went, and it too', () => {
  const context = { cursors: cursorCodec(Buffer.alloc(32, 7)) };
  const page = (items: readonly string[], cursor?: string) =>
    listPage(context, { limit: 2, cursor }, { name: 'letters', items, idOf: (item) => item });
  const first = page(['a', 'b', 'c', 'd']);
  assert.deepEqual(first.items, ['a', 'b']);
  const next = (items: readonly string[]) => page(items, first.nextCursor ?? '').items;
  assert.deepEqual(next(['a', 'b', 'c', 'd']), ['c', 'd']);
  assert.deepEqual(next(['b', 'c', 'd']), ['c', 'd']);
  assert.deepEqual(next(['new', 'a', 'b', 'c']), ['c']);
  assert.deepEqual(next(['a', 'c', 'd']), ['d']);
  assert.deepEqual(page(['a', 'b']), { items: ['a', 'b'], nextCursor: null });
});
