// What a reader learns of by its cursor: everything once, in order, with two cores and while it waits; and what ends a wait.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type MessagingNews } from '@platform/contract';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { assertRefused, friends, MESSAGING, type Writer, writerOf, writerOn } from '../../test-support/messaging.ts';

let world: Constellation;
let ada: Writer;
let ben: Writer;
let a: string;
let b: string;

before(async () => {
  world = await startConstellation();
  ada = await writerOf(world, 'ada');
  ben = await writerOf(world, 'ben');
  [a, b] = await friends(ada, ben);
});
after(() => world.close());

const waiting = () => world.core.context.signals;

/** A call that waits; resolves once core has begun to listen for it. */
async function wait(writer: Writer, body: object): Promise<{ readonly answer: Promise<RawAnswer> }> {
  const { onAbout } = waiting();
  const begun = Promise.withResolvers<void>();
  // The last that it does before it waits is to listen.
  waiting().onAbout = ((...given: Parameters<typeof onAbout>) => {
    if (given[0] === 'messaging-changed') begun.resolve();
    return onAbout.apply(waiting(), given);
  }) as typeof onAbout;
  const answer = writer.call('/sync', { body: { timeoutMs: limits.messagingSyncWait.value, ...body } });
  await Promise.race([begun.promise, answer]);
  waiting().onAbout = onAbout;
  return { answer };
}

test('without a cursor there are the newest conversations; with one, what came since, in order and once', async () => {
  const first = await ada.sync();
  assert.deepEqual(
    first.conversations.map(({ id, state }) => [id, state]),
    [[a, 'open']],
  );
  assert.deepEqual([first.messages, first.hasMore], [[], false]);
  const nothing = await ada.sync({ cursor: first.cursor });
  assert.deepEqual([nothing.conversations, nothing.messages, nothing.hasMore], [[], [], false]);
  for (const body of ['1', '2', '3', '4', '5']) await (body === '3' ? ada.sent(a, body) : ben.sent(b, body));
  const bodies: string[] = [];
  let { cursor } = first;
  let hasMore = true;
  while (hasMore) {
    const news: MessagingNews = await ada.sync({ cursor, limit: 2 });
    assert.ok(news.messages.length <= 2);
    // Each message comes with its conversation.
    for (const { conversationId } of news.messages)
      assert.ok(news.conversations.some(({ id }) => id === conversationId));
    bodies.push(...news.messages.map(({ body }) => body));
    ({ cursor, hasMore } = news);
  }
  assert.deepEqual(bodies, ['1', '2', '3', '4', '5']);
  const again = await ada.sync({ cursor: first.cursor, limit: 100 });
  assert.deepEqual(
    again.messages.map(({ body }) => body),
    bodies,
  );
});

test('a second call with the cursor ends the first with what it has; another reader waits beside it', async () => {
  const mine = await ada.sync();
  const others = await ada.sync();
  const first = await wait(ada, { cursor: mine.cursor });
  const beside = await wait(ada, { cursor: others.cursor });
  const second = await wait(ada, { cursor: mine.cursor });
  const ended = (await first.answer).json as MessagingNews;
  assert.deepEqual([ended.messages, ended.conversations], [[], []]);
  await ben.sent(b, 'for both');
  for (const { answer } of [beside, second])
    assert.deepEqual(
      ((await answer).json as MessagingNews).messages.map(({ body }) => body),
      ['for both'],
    );
});

test('a grant that is taken, a pause and an end of the app end the wait at once', async () => {
  const cid = await writerOf(world, 'cid');
  for (const end of ['grant', 'pause', 'removal'] as const) {
    const app = await writerOn(world, cid.account, `ends-by-${end}`);
    const { cursor } = await app.sync();
    const waits = await wait(app, { cursor });
    if (end === 'grant')
      await cid.account.browser.take(`/v1/apps/${app.app.appId}/permissions`, {
        method: 'PUT',
        body: { permissions: [] },
      });
    else if (end === 'pause') await cid.account.fetch('/v1/runtime/pause', { method: 'POST' });
    else await cid.account.fetch(`/v1/apps/${app.app.appId}`, { method: 'DELETE' });
    const answer = await waits.answer;
    assert.ok(answer.status >= 400, `${end}: ${answer.text}`);
    if (end === 'pause') await cid.account.fetch('/v1/runtime/resume', { method: 'POST' });
  }
});

test('an installation has a few waits', async () => {
  const cid = await writerOf(world, 'dan');
  const cursors: string[] = [];
  for (let index = 0; index <= limits.messagingSyncs.value; index += 1) cursors.push((await cid.sync()).cursor);
  const last = cursors.pop() ?? '';
  const waits: { readonly answer: Promise<RawAnswer> }[] = [];
  for (const cursor of cursors) waits.push(await wait(cid, { cursor }));
  assertRefused(await cid.call('/sync', { body: { cursor: last, timeoutMs: 30_000 } }), 429, 'concurrency_limited');
  await friends(ada, cid);
  await Promise.all(waits.map(({ answer }) => answer));
  assert.equal((await cid.call('/sync', { body: { cursor: last, timeoutMs: 30_000 } })).status, 200);
});

test('a cursor of another app, of another list, altered, or too old is refused', async () => {
  const { cursor } = await ada.sync();
  const second = await writerOn(world, ada.account, 'second-reader');
  const list = (await ada.call('/conversations?limit=1')).json as { nextCursor: string | null };
  for (const [writer, wrong] of [
    [ben, cursor],
    [second, cursor],
    [ada, `${cursor}A`],
    [ada, cursor.slice(1)],
    [ada, list.nextCursor ?? 'x'],
  ] as const)
    assertRefused(await writer.call('/sync', { body: { cursor: wrong } }), 400, 'invalid_cursor');
  for (const body of [
    { timeoutMs: 30_001 },
    { timeoutMs: -1 },
    { limit: 0 },
    { limit: 101 },
    { cursor: '' },
    { since: 1 },
  ])
    assertRefused(await ada.call('/sync', { body }), 400, 'invalid_request');
});

test('a cursor lasts 30 days of proven time', async (context) => {
  let now = Date.parse('2026-11-21T10:00:00.000Z');
  const other = await startConstellation({ clock: () => new Date(now) });
  context.after(() => other.close());
  const reader = await writerOf(other, 'reader');
  const { cursor } = await reader.sync();
  now += 30 * 86_400_000;
  await reader.sync({ cursor });
  now += 1;
  assertRefused(await reader.call('/sync', { body: { cursor } }), 400, 'invalid_cursor');
});

test('what came while thousands of others changed is one page after the other without a gap', async () => {
  const names = ['eva', 'fin', 'gus'];
  const writers = await Promise.all(names.map((name) => writerOf(world, name)));
  const { cursor: start } = await ada.sync();
  const ids = await Promise.all(writers.map((writer) => friends(writer, ada)));
  await Promise.all(
    ids.flatMap(([theirs], index) =>
      Array.from({ length: 30 }, (_, number) => writers[index]?.sent(theirs, `${names[index]} ${number}`)),
    ),
  );
  let cursor = start;
  const seen: string[] = [];
  for (let more = true; more; ) {
    const news: MessagingNews = await ada.sync({ cursor, limit: 7 });
    seen.push(...news.messages.map(({ body }) => body));
    cursor = news.cursor;
    more = news.hasMore;
  }
  assert.equal(seen.length, 90);
  assert.equal(new Set(seen).size, 90);
});

// The last, because the credential of the local node becomes the replica's.
test('a call waits for a message, for a state, and for being read, also from another core', async () => {
  const replica = await world.replica();
  const { cursor } = await ada.sync();
  const message = await wait(ada, { cursor });
  const { port } = new URL(replica.context.config.origin);
  const sent = await rawRequest({
    port: Number(port),
    method: 'POST',
    path: `${MESSAGING}/conversations/${b}/messages`,
    headers: {
      host: new URL(replica.context.config.origin).host,
      'content-type': 'application/json',
      authorization: `Bearer ${ben.app.credential}`,
    },
    body: JSON.stringify({ transactionId: 'by the other core', message: { body: 'woken' } }),
  });
  assert.equal(sent.status, 201, sent.text);
  const news = (await message.answer).json as MessagingNews;
  assert.deepEqual(
    news.messages.map(({ body }) => body),
    ['woken'],
  );
  const read = await wait(ada, { cursor: news.cursor });
  await ada.call(`/conversations/${a}/read`, { body: { messageId: news.messages[0]?.id } });
  const { conversations } = (await read.answer).json as MessagingNews;
  assert.deepEqual(
    conversations.map(({ id, unread }) => [id, unread]),
    [[a, 0]],
  );
});
