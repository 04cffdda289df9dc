// Messages through a bridge, as apps see them: the same routes, conversations of both kinds, and what a start and a person are told.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Conversation, installationId, limits, type Message, type MessagingNews } from '@platform/contract';
import { registerAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { assertRefused, friends, nameOf, type Writer, writerOf, writerOn } from '../../../test-support/messaging.ts';
import { BRIDGE_TOKEN, type BridgeDouble, startBridgeDouble } from '../../../test-support/messaging-bridge.ts';
import { bundledTransport } from '../bundled/bundled-transport.ts';

const SERVER = 'shell.platform.localhost';
const ALICE = '@alice:example.org';

let world: Constellation;
let bridge: BridgeDouble;
let count = 0;

before(async () => {
  bridge = await startBridgeDouble();
  world = await startConstellation({
    config: {
      messaging: {
        serverName: SERVER,
        bridge: { kind: 'configured', url: bridge.url, token: BRIDGE_TOKEN },
        federation: null,
        clientUrl: null,
      },
    },
  });
});
after(async () => {
  await world?.close();
  await bridge?.close();
});
afterEach(() => {
  bridge.answer = (_, truth) => truth;
});

async function newWriter(): Promise<Writer> {
  count += 1;
  return writerOf(world, `ada-${count}`);
}

test('an app uses the same routes, and every call says for whom it is', async () => {
  const ada = await newWriter();
  const name = nameOf(ada);
  const identity = await ada.call('/identity');
  assert.deepEqual(identity.json, {
    identity: {
      address: `${name}@${SERVER}`,
      transportUserId: `@${name}:${SERVER}`,
      transport: 'bridge',
      provisioned: true,
    },
  });
  const contact = await ada.call(`/contacts/${encodeURIComponent(' @alice:EXAMPLE.org ')}`);
  assert.deepEqual(contact.json, { contact: { address: ALICE, transportUserId: ALICE, external: true } });
  assertRefused(await ada.call('/contacts/@nobody:example.org'), 404, 'not_found');
  assertRefused(await ada.call('/contacts/nobody-here'), 404, 'not_found');

  const opened = await ada.call('/conversations/direct', { body: { to: ALICE } });
  assert.equal(opened.status, 201, opened.text);
  const { conversation } = opened.json as { conversation: Conversation };
  assert.deepEqual(conversation.participants, [{ address: ALICE, transportUserId: ALICE }]);
  assert.equal(conversation.transport, 'bridge');
  assert.equal((await ada.call('/conversations/direct', { body: { to: ALICE } })).status, 200);
  assertRefused(await ada.call('/conversations/direct', { body: { to: name } }), 400, 'invalid_request');

  const sent = await ada.send(conversation.id, 'Hello Alice', 'one');
  assert.equal(sent.status, 201, sent.text);
  const again = await ada.send(conversation.id, 'Hello Alice', 'one');
  assert.deepEqual([again.status, again.json], [200, sent.json]);
  assertRefused(await ada.send(conversation.id, 'Hello Bob', 'one'), 409, 'conversation_conflict');
  assert.deepEqual(await ada.bodies(conversation.id), ['Hello Alice']);
  for (const act of ['accept', 'leave', 'block', 'decline'] as const)
    assert.equal((await ada.act(conversation.id, act)).status, 200);
  const { message } = sent.json as { message: Message };
  const read = await ada.call(`/conversations/${conversation.id}/read`, { body: { messageId: message.id } });
  assert.equal(read.status, 200, read.text);
  assert.deepEqual(
    (await ada.conversations()).map(({ id }) => id),
    [conversation.id],
  );
  const { rows } = await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [name]);
  for (const { subject, version } of bridge.calls.filter((one) => one.subject.platformName === name))
    assert.deepEqual(
      { subject, version },
      {
        version: 1,
        subject: {
          accountId: rows[0].key,
          platformName: name,
          platformAddress: `${name}@${SERVER}`,
          transportUserId: `@${name}:${SERVER}`,
        },
      },
    );
});

test('ids are of one installation, and nothing of the bridge is in them', async () => {
  const ada = await newWriter();
  const second = await writerOn(world, ada.account, 'second-letters');
  const { id } = await ada.direct(ALICE);
  const message = await ada.sent(id, 'Hello');
  const decoded = Buffer.from(id.slice('conv-b.'.length), 'base64url').toString('latin1');
  assert.doesNotMatch(decoded + id + message.id, /room-of|event/);
  assertRefused(await second.call(`/conversations/${id}/messages`), 404, 'not_found');
  for (const other of [`${id.slice(0, -2)}AA`, 'conv-b.', 'conv-b.AAAA', id.replace('conv', 'msg')])
    assertRefused(await ada.call(`/conversations/${other}/messages`), 404, 'not_found');
  const [own] = await second.conversations();
  assert.notEqual(own?.id, id);
  assert.deepEqual(await second.bodies(own?.id ?? ''), ['Hello']);
});

test('a waiting call ends when the bridge has news, and with its caller; its cursor goes on without a gap', async () => {
  const ada = await newWriter();
  const { id } = await ada.direct(ALICE);
  const { cursor } = await ada.sync();
  const waits = ada.call('/sync', { body: { cursor, timeoutMs: limits.messagingSyncWait.value } });
  await asked('sync', ada, 2);
  bridge.receive(`!room-of-${nameOf(ada)}-and-alice:example.org`, ALICE, 'Are you there?');
  const news = (await waits).json as MessagingNews;
  assert.deepEqual(
    news.messages.map(({ body, conversationId, sender }) => [body, conversationId, sender.address]),
    [['Are you there?', id, ALICE]],
  );
  assert.deepEqual((await ada.sync({ cursor: news.cursor })).messages, []);
  assert.deepEqual((await ada.sync({ cursor })).messages, news.messages);

  const further = ada.call('/sync', { body: { cursor: news.cursor, timeoutMs: limits.messagingSyncWait.value } });
  await asked('sync', ada, 5);
  await deleteGrants(ada);
  assertRefused(await further, 403, 'grant_missing');
});

/** Once the bridge was asked so often for this account. */
async function asked(operation: string, writer: Writer, times: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = () => {
    const own = bridge.calls.filter(
      (one) => one.operation === operation && one.subject.platformName === nameOf(writer),
    );
    if (own.length >= times) resolve();
    else setImmediate(look);
  };
  look();
  await promise;
}

async function deleteGrants({ account, app }: Writer): Promise<void> {
  await account.browser.take(`/v1/apps/${app.appId}/permissions`, { method: 'PUT', body: { permissions: [] } });
}

test('conversations from before the bridge are read, and not written in', async () => {
  const ada = await newWriter();
  const ben = await newWriter();
  const bundled = bundledTransport(world.core.context);
  const keyOf = async (writer: Writer): Promise<string> =>
    (await world.core.context.pool.query('SELECT key FROM accounts WHERE name = $1', [nameOf(writer)])).rows[0].key;
  const acting = { accountKey: await keyOf(ben), installationId: installationId.parse(ben.app.installationId) };
  const { conversation } = await bundled.direct(acting.accountKey, nameOf(ada));
  const sending = { conversationId: conversation.id, transactionId: 't', body: 'From before' };
  await bundled.send(acting, sending);

  const alice = await ada.direct(ALICE);
  const first = await ada.call('/conversations');
  const { items, nextCursor } = first.json as { items: Conversation[]; nextCursor: string };
  assert.deepEqual(
    items.map(({ id }) => id),
    [alice.id],
  );
  const second = await ada.call(`/conversations?cursor=${nextCursor}`);
  const older = (second.json as { items: Conversation[]; nextCursor: null }).items;
  assert.deepEqual(
    older.map(({ transport, unread }) => [transport, unread]),
    [['bundled', 1]],
  );
  const old = older[0]?.id ?? '';
  assert.deepEqual(await ada.bodies(old), ['From before']);
  assert.equal((await ada.act(old, 'accept')).status, 200);
  const refused = await ada.send(old, 'No more');
  assertRefused(refused, 409, 'conversation_conflict');
  assert.match(refused.text, /begun without the bridge/);
  const begun = await ada.sync();
  assert.deepEqual(begun.conversations.map(({ transport }) => transport).toSorted(), ['bridge', 'bundled']);
  await bundled.send(acting, { ...sending, transactionId: 't2', body: 'Still under way' });
  const news = await ada.sync({ cursor: begun.cursor });
  assert.deepEqual(
    news.messages.map(({ body }) => body),
    ['Still under way'],
  );
  assert.deepEqual((await ada.sync({ cursor: news.cursor })).messages, []);
});

test('people of the platform are provisioned before they are invited, and strangers are counted', async () => {
  const ada = await newWriter();
  const ben = await registerAccount(world, `ben-${count}`);
  await ada.direct(ben.name);
  assert.deepEqual(
    bridge.calls.slice(-2).map(({ operation, subject }) => [operation, subject.platformName]),
    [
      ['identity', ben.name],
      ['direct', nameOf(ada)],
    ],
  );
  bridge.answer = (call, truth) =>
    call.operation === 'direct' && call.input.to.startsWith('@gone')
      ? { status: 404, body: { version: 1, error: { code: 'not_found', message: '' } } }
      : truth;
  for (let place = 0; place < 3; place += 1)
    assertRefused(
      await ada.call('/conversations/direct', { body: { to: `@gone${place}:example.org` } }),
      404,
      'not_found',
    );
  const most = limits.messagingRequests.value;
  for (let place = 1; place < most; place += 1) await ada.direct(`@stranger-${place}:example.org`);
  assertRefused(
    await ada.call('/conversations/direct', { body: { to: '@one-more:example.org' } }),
    429,
    'rate_limited',
  );
  await ada.direct('@stranger-1:example.org');
});

test('who waits for a slow bridge delays nobody else', async () => {
  const ada = await newWriter();
  const ben = await newWriter();
  const { id } = await ada.direct(ALICE);
  const { id: other } = await ben.direct(ALICE);
  const held = Promise.withResolvers<void>();
  bridge.answer = async (call, truth) => {
    if (call.subject.platformName === nameOf(ada)) await held.promise;
    return truth;
  };
  const slow = Array.from({ length: 20 }, (_, place) => ada.send(id, `slow ${place}`));
  await asked('send', ada, 1);
  for (let place = 0; place < 5; place += 1) await ben.sent(other, `quick ${place}`);
  assert.equal((await ben.bodies(other)).length, 5);
  held.resolve();
  for (const one of slow) assert.equal((await one).status, 201);
});

test('what waits for one conversation delays nothing else of the account, and comes in its order', async () => {
  const ada = await newWriter();
  const { id: slow } = await ada.direct(ALICE);
  const { id: quick } = await ada.direct('@bob:example.org');
  const held = Promise.withResolvers<void>();
  let isAccepted = false;
  bridge.answer = async (call, truth) => {
    if (call.operation === 'accept' || call.operation === 'leave') await held.promise;
    if (call.operation === 'accept') isAccepted = true;
    if (call.operation === 'send' && call.input.conversationId.includes('alice')) assert.ok(isAccepted);
    return truth;
  };
  const accepted = ada.act(slow, 'accept');
  await asked('accept', ada, 1);
  const waiting = Array.from({ length: 10 }, (_, place) => ada.send(slow, `after it ${place}`));
  const left = Array.from({ length: 6 }, () => ada.act(slow, 'leave'));
  await asked('leave', ada, 6);
  await ada.sent(quick, 'at once');
  assert.deepEqual(await ada.bodies(quick), ['at once']);
  assert.equal((await ada.conversations()).length, 2);
  held.resolve();
  for (const one of [accepted, ...left]) assert.equal((await one).status, 200);
  for (const one of waiting) assert.equal((await one).status, 201);
});

test('what the bridge cannot do is told by the codes of the contract, without its words', async () => {
  const ada = await newWriter();
  const { id } = await ada.direct(ALICE);
  for (const [code, status, told] of [
    ['not_found', 404, 'not_found'],
    ['rate_limited', 429, 'rate_limited'],
    ['conflict', 409, 'conversation_conflict'],
    ['no_encryption', 409, 'conversation_conflict'],
    ['unreachable', 502, 'upstream_failed'],
    ['unavailable', 503, 'transport_unavailable'],
  ] as const) {
    bridge.answer = () => ({ status: 500, body: { version: 1, error: { code, message: 'SECRET' } } });
    const answer = await ada.send(id, 'Hello');
    assertRefused(answer, status, told);
    assert.doesNotMatch(answer.text, /SECRET/);
  }
  bridge.answer = () => ({ status: 409, body: { version: 1, error: { code: 'conflict', message: '' } } });
  for (const path of ['/conversations', `/conversations/${id}/messages`])
    assertRefused(await ada.call(path), 400, 'invalid_cursor');
});

test('with one of the two variables alone every route says that the operator has to set the other', async () => {
  const messaging = world.core.context.config.messaging;
  const bridge = { kind: 'incomplete', missing: 'PLATFORM_MESSAGING_BRIDGE_TOKEN' } as const;
  const own = await startConstellation({ config: { messaging: { ...messaging, bridge } } });
  try {
    const one = await writerOf(own, 'one');
    await registerAccount(own, 'two');
    const answers = [
      await one.call('/identity'),
      await one.call('/contacts/two'),
      await one.call('/conversations'),
      await one.call('/conversations/direct', { body: { to: 'two' } }),
      await one.call('/conversations/conv-x/messages'),
      await one.send('conv-x', 'Hello'),
      await one.call('/conversations/conv-x/read', { body: { messageId: 'msg-x' } }),
      await one.call('/sync', { body: { timeoutMs: limits.messagingSyncWait.value } }),
    ];
    for (const act of ['accept', 'decline', 'leave', 'block'] as const) answers.push(await one.act('conv-x', act));
    for (const answer of answers) {
      assertRefused(answer, 503, 'transport_unavailable');
      assert.match(answer.text, /PLATFORM_MESSAGING_BRIDGE_TOKEN/);
    }
  } finally {
    await own.close();
  }
});

test('a start under another server name than addresses have is refused, whichever transport gave the first', async () => {
  await (await newWriter()).call('/identity');
  const { config } = world.core.context;
  await assert.rejects(
    world.replica({ config: { ...config, messaging: { ...config.messaging, serverName: 'example.com' } } }),
    /PLATFORM_MESSAGING_SERVER_NAME/,
  );
});

test('friends on the bundled transport write to each other where no bridge is configured', async () => {
  const own = await startConstellation();
  try {
    const [one] = await friends(await writerOf(own, 'one'), await writerOf(own, 'two'));
    assert.match(one, /^conv-[\w-]{43}$/);
  } finally {
    await own.close();
  }
});
