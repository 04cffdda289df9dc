// News and pages in any order make the same thread, each message once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Conversation, Message } from '@platform/sdk/browser';
import {
  begunAnew,
  EMPTY,
  listed,
  withConversations,
  withListed,
  withNews,
  withOutgoing,
  withPage,
  withSent,
} from './mail.ts';

const message = (id: string, conversationId = 'a') =>
  ({
    id,
    conversationId,
    sender: { address: 'ada@example.com' },
    body: id,
    kind: 'text',
    sentAt: '2026-11-21T10:00:00.000Z',
  }) as unknown as Message;
const conversation = (id: string, lastMessageAt: string | null, state: Conversation['state'] = 'open') =>
  ({ id, lastMessageAt, state, createdAt: '2026-11-01T00:00:00.000Z' }) as unknown as Conversation;
const page = (mail: typeof EMPTY, items: readonly Message[], nextCursor: string | null) =>
  withPage(mail, mail, 'a', { items, nextCursor });
const bodies = (mail: typeof EMPTY) => mail.threads.get('a')?.messages.map(({ body }) => body);

test('pages and news are one thread, oldest first', () => {
  const first = page(EMPTY, [message('4'), message('3')], 'next');
  const news = withNews(withNews(first, [message('5')]), [message('5'), message('6')]);
  const older = page(news, [message('2'), message('1')], null);
  assert.deepEqual(bodies(older), ['1', '2', '3', '4', '5', '6']);
  assert.equal(older.threads.get('a')?.older, null);
});

test('news of a thread that was never opened are left to its pages', () => {
  const mail = withNews(EMPTY, [message('9')]);
  assert.equal(mail.threads.get('a'), undefined);
  assert.deepEqual(bodies(page(mail, [message('9'), message('8')], null)), ['8', '9']);
});

test('what was sent is a message once, whether the answer or the news comes first', () => {
  const open = page(EMPTY, [], null);
  const sending = withOutgoing(open, { transactionId: 't', conversationId: 'a', body: '1' });
  assert.equal(sending.outgoing.length, 1);
  for (const mail of [
    withNews(withSent(sending, 't', message('1')), [message('1')]),
    withSent(withNews(sending, [message('1')]), 't', message('1')),
  ])
    assert.deepEqual([bodies(mail), mail.outgoing], [['1'], []]);
  const between = withNews(sending, [message('1')]);
  assert.deepEqual([bodies(between), between.outgoing], [['1'], []], 'nor twice before the answer');
});

test('conversations stand by their last message, and those that were left do not', () => {
  const mail = withConversations(EMPTY, [
    conversation('old', '2026-11-20T00:00:00.000Z'),
    conversation('new', '2026-11-21T00:00:00.000Z'),
    conversation('empty', null),
    conversation('left', '2026-11-22T00:00:00.000Z', 'left'),
  ]);
  assert.deepEqual(
    listed(mail).map(({ id }) => id),
    ['new', 'old', 'empty'],
  );
});

test('a page of the list adds what nobody knew, and takes back nothing that the news brought', () => {
  const mail = withConversations(EMPTY, [conversation('new', '2026-11-21T00:00:00.000Z', 'open')]);
  const listing = withListed(mail, mail, {
    items: [
      conversation('new', '2026-11-20T00:00:00.000Z', 'request'),
      conversation('old', '2026-11-01T00:00:00.000Z'),
    ],
    nextCursor: 'next',
  });
  assert.deepEqual(
    listed(listing).map(({ id, state }) => [id, state]),
    [
      ['new', 'open'],
      ['old', 'open'],
    ],
  );
  assert.equal(listing.older, 'next');
  const anew = begunAnew(listing);
  assert.equal(anew.older, undefined);
  assert.equal(withListed(anew, listing, { items: [conversation('old', null)], nextCursor: null }).older, undefined);
});

test('a page that was asked for before the news began anew is not taken for the whole thread', () => {
  const asked = page(EMPTY, [message('4'), message('3')], 'next');
  const anew = begunAnew(withOutgoing(asked, { transactionId: 't', conversationId: 'a', body: 'on its way' }));
  assert.deepEqual([anew.threads.size, anew.conversations.size, anew.outgoing.length], [0, 0, 1]);
  const late = withPage(anew, asked, 'a', { items: [message('2')], nextCursor: null });
  assert.equal(late.threads.get('a'), undefined);
  assert.deepEqual(bodies(page(late, [message('5'), message('4')], 'next')), ['4', '5']);
});
