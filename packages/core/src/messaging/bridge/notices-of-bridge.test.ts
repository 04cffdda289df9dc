// What arrives through the bridge is a notification of the Messages app, once until it is read, and read where the person has read it
// elsewhere. A bridge that says anything else is not believed.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { MessagingBridgeNotice, Notification } from '@platform/contract';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { messagesPackage, nameOf, type Writer, writerOfMessages } from '../../../test-support/messaging.ts';
import {
  BRIDGE_TOKEN,
  type BridgeDouble,
  type BridgeReply,
  type NoticesInput,
  startBridgeDouble,
} from '../../../test-support/messaging-bridge.ts';
import { MESSAGES_APP } from '../notice-queries.ts';

const SERVER = 'shell.platform.localhost';
const ALICE = '@alice:example.org';

let world: Constellation;
let bridge: BridgeDouble;
let ada: Writer;
let ben: Writer;
let count = 0;

before(async () => {
  bridge = await startBridgeDouble();
  const configured = { kind: 'configured', url: bridge.url, token: BRIDGE_TOKEN } as const;
  world = await startConstellation({
    systemPackages: [await messagesPackage()],
    config: { messaging: { serverName: SERVER, bridge: configured, federation: null, clientUrl: null } },
  });
  ada = await writerOfMessages(world, await registerAccount(world, 'ada'));
  ben = await writerOfMessages(world, await registerAccount(world, 'ben'));
});
after(async () => {
  await world?.close();
  await bridge?.close();
});
afterEach(async () => {
  await ada.account.fetch('/v1/notifications/read-all', { method: 'POST' });
});

const success = (notices: readonly object[], cursor = 'next'): BridgeReply => ({
  status: 200,
  body: { version: 1, result: { cursor, notices } },
});

async function noticeOf(of: Writer, more: object = {}, conversation: object = {}): Promise<MessagingBridgeNotice> {
  count += 1;
  const { rows } = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [nameOf(of)]);
  return {
    id: `notice-${count}`,
    accountId: rows[0].key,
    transportUserId: `@${nameOf(of)}:${SERVER}`,
    conversation: {
      id: 'conversation-with-alice',
      encrypted: true,
      participants: [{ transportUserId: ALICE }],
      state: 'open',
      unread: 1,
      createdAt: '2026-11-21T10:00:00.000Z',
      lastMessageAt: '2026-11-21T10:00:00.000Z',
      ...conversation,
    },
    ...more,
  };
}

/** Answers core's next question so, and resolves with the question after it: by then all is kept. */
async function told(...replies: BridgeReply[]): Promise<NoticesInput> {
  const { promise, resolve } = Promise.withResolvers<NoticesInput>();
  bridge.tell(replies, resolve);
  return promise;
}

async function inbox(of: Writer): Promise<Notification[]> {
  const answer = await of.account.fetch('/v1/notifications');
  return (answer.json as { items: Notification[] }).items.filter(({ appId }) => appId === MESSAGES_APP);
}
const unread = async (of: Writer) =>
  (await inbox(of)).filter(({ readAt }) => readAt === null).map(({ title }) => title);

test('a request and what is unread are one each, however often the bridge says so, and lead to the conversation', async () => {
  const request = await noticeOf(ada, {}, { state: 'request', unread: 0 });
  const message = await noticeOf(ada, {}, { id: 'another', participants: [{ transportUserId: `@ben:${SERVER}` }] });
  const { cursor } = await told(success([request, message], 'first'), success([request, message], 'second'));
  assert.equal(cursor, 'second');
  const all = await inbox(ada);
  assert.deepEqual(all.map(({ title }) => title).toSorted(), [
    `${ALICE} wants to write to you`,
    'New message from ben',
  ]);
  for (const { presentation, body } of all) {
    assert.match(presentation?.actions[0]?.target ?? '', /^\?conversation=conv-b\./);
    assert.equal(body, '');
  }
});

test('what was read with another client is read here, in this conversation alone, and something new is new again', async () => {
  const title = `New message from ${ALICE}`;
  const bob = await noticeOf(ada, {}, { id: 'with-bob', participants: [{ transportUserId: '@bob:example.org' }] });
  await told(success([await noticeOf(ada), bob]));
  assert.deepEqual((await unread(ada)).toSorted(), [title, 'New message from @bob:example.org']);
  await told(success([await noticeOf(ada, {}, { unread: 0 })]));
  assert.deepEqual(await unread(ada), ['New message from @bob:example.org']);
  await told(success([await noticeOf(ada)]));
  assert.equal((await unread(ada)).filter((one) => one === title).length, 1);
});

test('a notice of somebody else, of nobody, without encryption or of another form is no notification', async () => {
  const mine = await noticeOf(ada);
  await told(
    success([{ ...mine, transportUserId: `@ben:${SERVER}` }]),
    success([{ ...mine, id: 'n1', accountId: 'nobody' }]),
    success([await noticeOf(ada, {}, { encrypted: false })]),
    success([await noticeOf(ada, {}, { state: 'left' })]),
    success([{ ...mine, id: 7 }]),
    { status: 200, body: { version: 2, result: { cursor: 'x', notices: [mine] } } },
    success([]),
    { status: 200, body: 'no JSON' },
    success([]),
    { status: 502, body: '<html>' },
    success([await noticeOf(ben)]),
  );
  assert.deepEqual(await unread(ada), []);
  assert.deepEqual(await unread(ben), [`New message from ${ALICE}`]);
});

test('a bridge of a former version, which has no notices, is asked again only much later', async () => {
  bridge.tell([{ status: 400, body: { code: 'invalid_request' } }], () => undefined);
  const { rows } = await until('the pause', async () => {
    const found = await world.core.context.pool.query(
      "SELECT next_at FROM periodic_tasks WHERE name = 'messaging-notices' AND next_at > now() + interval '5 minutes'",
    );
    return found.rowCount === 1 ? found : null;
  });
  assert.equal(rows.length, 1);
  assert.equal((await ada.call('/identity')).status, 200);
});
