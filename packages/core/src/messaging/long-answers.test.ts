// What one account may have of core by reading: an answer holds so many bytes of messages, and one is written at a time, so that
// others are answered in between, however long its messages are and however many of its apps ask.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type Message, type MessagingNews } from '@platform/contract';
import pg from 'pg';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { assertRefused, type Writer, writerOf } from '../../test-support/messaging.ts';

/** The longest there is: 64 KiB. */
const LONGEST = '😀'.repeat(limits.messageBody.value);
const COUNT = 11;
/** The last may begin within. */
const MOST = limits.messagingAnswer.value + Buffer.byteLength(LONGEST);

let world: Constellation;
let ada: Writer;
let ben: Writer;
let cursor: string;
/** In the order in which they were sent. */
const sent: string[] = [];
/** As each of them knows it. */
let ofAda: string;
let ofBen: string;

before(async () => {
  world = await startConstellation();
  [ada, ben] = [await writerOf(world, 'ada'), await writerOf(world, 'ben')];
  ofAda = (await ada.direct('ben')).id;
  ofBen = (await ben.conversations())[0]?.id ?? '';
  assert.equal((await ben.act(ofBen, 'accept')).status, 200);
  ({ cursor } = await ben.sync());
  for (let number = 0; number < COUNT; number += 1) {
    const body = number % 3 === 0 ? `short ${number}` : `${number}${LONGEST.slice(4)}`;
    sent.push((await ada.sent(ofAda, body)).body);
  }
});
after(() => world?.close());

function assertFits(messages: readonly Message[]): void {
  const bytes = messages.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  assert.ok(bytes <= MOST, `${messages.length} messages of ${bytes} bytes`);
  assert.ok(messages.length > 0);
}

test('pages of long messages are shorter, and together all there is', async () => {
  const read: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const at: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const answer = await ben.call(`/conversations/${ofBen}/messages?limit=200${at}`);
    const page = answer.json as { items: Message[]; nextCursor: string | null };
    assertFits(page.items);
    read.push(...page.items.map(({ body }) => body));
    next = page.nextCursor;
  }
  assert.deepEqual(read, sent.toReversed());
});

test('news of long messages come in several answers, in order and without a gap', async () => {
  const read: string[] = [];
  let news: MessagingNews = { cursor, conversations: [], messages: [], hasMore: true };
  while (news.hasMore) {
    news = await ben.sync({ cursor: news.cursor, limit: 100 });
    assertFits(news.messages);
    read.push(...news.messages.map(({ body }) => body));
  }
  assert.deepEqual(read, sent);
});

test('an account that asks again and again waits for itself, and beyond that is refused', async () => {
  const waiting = 2 * limits.messagingSyncs.value;
  const holder = new pg.Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN; LOCK TABLE conversation_messages IN ACCESS EXCLUSIVE MODE');
  const reads = Array.from({ length: waiting + 2 }, () => ada.call(`/conversations/${ofAda}/messages?limit=1`));
  try {
    assertRefused(await Promise.race(reads), 429, 'concurrency_limited');
    // It holds no connection to the database meanwhile that others need.
    assert.equal((await ben.call('/identity')).status, 200);
  } finally {
    await holder.end();
  }
  const statuses = (await Promise.all(reads)).map(({ status }) => status);
  assert.deepEqual(
    [200, 429].map((one) => statuses.filter((status) => status === one).length),
    [waiting + 1, 1],
  );
});
