// What core is told for notifications: what waits for a person, once, until core has kept it, and that it no longer waits.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { MESSAGING_BRIDGE_PATH, type MessagingBridgeNotices, messagingBridgeNoticesAnswer } from '@platform/contract';
import { until } from '../../../tests/support/wait.ts';
import { event, invitation, joinedRoom } from '../test-support/fake-homeserver.ts';
import { type HostileWorld, ROOM, says, startHostileWorld, TOKEN, text } from '../test-support/hostile-world.ts';

let world: HostileWorld;
/** Of the bridge. */
let now: number;
beforeEach(async () => {
  now = Date.now();
  world = await startHostileWorld({ clock: () => now });
});
afterEach(() => world.close());

async function post(body: object, token = TOKEN): Promise<Response> {
  return fetch(`http://127.0.0.1:${world.bridge.port}${MESSAGING_BRIDGE_PATH}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function ask(cursor?: string, timeoutMs = 0, limit = 100): Promise<MessagingBridgeNotices> {
  const input = { timeoutMs, limit, ...(cursor === undefined ? {} : { cursor }) };
  const response = await post({ version: 1, operation: 'notices', input });
  assert.equal(response.status, 200, await response.clone().text());
  return messagingBridgeNoticesAnswer.parse(await response.json()).result;
}

const statesOf = ({ notices }: MessagingBridgeNotices) =>
  notices.map(({ accountId, conversation }) => [
    accountId,
    conversation.participants[0]?.transportUserId,
    conversation.state,
    conversation.unread,
  ]);
const readingTime = () => {
  now += 3_000;
};
const said = async (body: string) =>
  event('m.room.encrypted', world.zoe.userId, await world.zoe.encrypt(ROOM, text(body)));

test('a request is told at once, and a message once the person has had the time to read it', async () => {
  const { ada, zoe } = world;
  await world.openConversation();
  await world.deliver(invitation('!yan', ada.userId, '@yan:elsewhere.test'));
  const first = await ask();
  assert.deepEqual(statesOf(first), [[ada.accountId, '@yan:elsewhere.test', 'request', 0]]);
  assert.ok(!JSON.stringify(first).includes('"body"'));
  await world.deliver(says(await said('one'), await said('two')));
  assert.deepEqual(statesOf(await ask(first.cursor)), []);
  readingTime();
  assert.deepEqual(statesOf(await ask()), [[ada.accountId, zoe.userId, 'open', 2]]);
});

test('what was read within that time is never told', async () => {
  const { ada } = world;
  const id = await world.openConversation();
  await world.deliver(says(await said('one')));
  const { messages } = await ada.ask('messages', { conversationId: id, limit: 1 });
  await ada.ask('read', { conversationId: id, messageId: messages[0]?.id ?? '' });
  readingTime();
  assert.deepEqual(statesOf(await ask()), []);
});

test('it comes again, under the same id, until core has asked with its cursor, and once more messages add nothing', async () => {
  await world.openConversation();
  await world.deliver(says(await said('one')));
  readingTime();
  const first = await ask();
  for (const cursor of [undefined, 'another', first.cursor.slice(1)]) {
    const again = await ask(cursor);
    assert.deepEqual(
      again.notices.map(({ id }) => id),
      first.notices.map(({ id }) => id),
    );
  }
  const last = await ask();
  assert.deepEqual(statesOf(await ask(last.cursor)), []);
  await world.deliver(says(await said('two')));
  readingTime();
  assert.deepEqual(statesOf(await ask()), []);
});

test('a bridge that was restarted tells what it had not told, and nothing again', async () => {
  const { ada, zoe } = world;
  await world.openConversation();
  await world.deliver(says(await said('one')));
  readingTime();
  const told = await ask((await ask()).cursor);
  await world.deliver(invitation('!yan', ada.userId, '@yan:elsewhere.test'));
  await world.restart();
  await ada.ask('conversations', { limit: 1 });
  readingTime();
  assert.deepEqual(statesOf(await ask(told.cursor)), [[ada.accountId, '@yan:elsewhere.test', 'request', 0]]);
  assert.equal((await ada.conversationWith(zoe.userId)).unread, 1);
});

const receipt = (eventId: string, userId: string, kind = 'm.read') => ({
  ephemeral: { events: [{ type: 'm.receipt', content: { [eventId]: { [kind]: { [userId]: { ts: 1 } } } } }] },
});

for (const [what, readAs] of [
  ['a receipt', (eventId: string) => receipt(eventId, world.ada.userId)],
  ['a receipt for nobody else', (eventId: string) => receipt(eventId, world.ada.userId, 'm.read.private')],
  [
    'a mark',
    (eventId: string) => ({ account_data: { events: [{ type: 'm.fully_read', content: { event_id: eventId } }] } }),
  ],
] as const) {
  test(`what was read with another Matrix client, by ${what}, is told to be read; what came after it is not`, async () => {
    const { ada, zoe } = world;
    await world.openConversation();
    const [one, two] = [await said('one'), await said('two')] as { event_id: string }[];
    await world.deliver(says(one ?? {}, two ?? {}));
    readingTime();
    const first = await ask();
    assert.deepEqual(statesOf(first), [[ada.accountId, zoe.userId, 'open', 2]]);
    await world.deliver({ rooms: { join: { [ROOM]: readAs(one?.event_id ?? '') } } });
    assert.equal((await ada.conversationWith(zoe.userId)).unread, 1);
    readingTime();
    await ask(first.cursor);
    await world.deliver({ rooms: { join: { [ROOM]: readAs(two?.event_id ?? '') } } });
    assert.equal((await ada.conversationWith(zoe.userId)).unread, 0);
    assert.deepEqual(statesOf(await ask()), [[ada.accountId, zoe.userId, 'open', 0]]);
  });
}

test('what core may have kept before it was restarted is told to be read, and what comes then is something new', async () => {
  const { ada, zoe } = world;
  await world.openConversation();
  const [one, two] = [await said('one'), await said('two')] as { event_id: string }[];
  await world.deliver(says(one ?? {}));
  readingTime();
  const [kept] = (await ask()).notices;
  await world.deliver({ rooms: { join: { [ROOM]: receipt(one?.event_id ?? '', ada.userId) } } });
  const over = await ask();
  assert.deepEqual(statesOf(over), [[ada.accountId, zoe.userId, 'open', 0]]);
  // Nor does core say that it has this.
  await world.deliver(says(two ?? {}));
  readingTime();
  const fresh = await ask();
  assert.deepEqual(statesOf(fresh), [[ada.accountId, zoe.userId, 'open', 1]]);
  assert.equal(new Set([kept?.id, over.notices[0]?.id, fresh.notices[0]?.id]).size, 3);
  assert.deepEqual(statesOf(await ask(fresh.cursor)), []);
});

/** Requests of so many strangers, and that they take them back. */
function strangers(name: string, count: number): readonly [object, object] {
  const rooms = Array.from({ length: count }, (_, place) => `!${name}${place}`);
  const invite = rooms.map((room) => {
    const one = invitation(room, world.ada.userId, `@${room.slice(1)}:elsewhere.test`);
    return (one as { rooms: { invite: object } }).rooms.invite;
  });
  const leave = Object.fromEntries(rooms.map((room) => [room, { timeline: { events: [] } }]));
  return [{ rooms: { invite: Object.assign({}, ...invite) } }, { rooms: { leave } }];
}

/** What is told until there is nothing more, as core would ask. */
async function everything(): Promise<MessagingBridgeNotices['notices']> {
  const told: MessagingBridgeNotices['notices'] = [];
  let answer = await ask();
  for (let asked = 0; answer.notices.length > 0; asked += 1) {
    assert.ok(asked < 50, 'it is told for ever');
    told.push(...answer.notices);
    answer = await ask(answer.cursor);
  }
  return told;
}

test('requests that were taken back are told to be over before they are forgotten, and end being told', async () => {
  const [ask1, withdraw1] = strangers('a', 1_000);
  const [ask2, withdraw2] = strangers('b', 1_000);
  await world.deliver(ask1);
  const told = (await everything()).map(({ conversation }) => conversation.id);
  assert.equal(told.length, 20);
  await world.deliver(withdraw1, ask2, withdraw2);
  const over = (await everything()).filter(({ conversation }) => conversation.state === 'left');
  for (const id of told) assert.ok(over.some(({ conversation }) => conversation.id === id));
  await world.deliver({});
  const kept = (await world.ada.ask('conversations', { limit: 100 })).conversations;
  assert.ok(kept.every(({ state }) => state === 'left'));
  assert.deepEqual(await everything(), []);
});

test('receipts of others, of other rooms and of anything else read nothing', async () => {
  const { ada, zoe } = world;
  await world.openConversation();
  const one = (await said('one')) as { event_id: string };
  await world.deliver(says(one));
  const others = [
    receipt(one.event_id, zoe.userId),
    receipt('$unknown', ada.userId),
    receipt(one.event_id, ada.userId, 'm.typing'),
    receipt('__proto__', ada.userId),
    { ephemeral: { events: [null, 7, { type: 'm.receipt' }, { type: 'm.receipt', content: { [one.event_id]: 1 } }] } },
    { ephemeral: { events: [{ type: 'm.receipt', content: { [one.event_id]: { 'm.read': [ada.userId] } } }] } },
    { ephemeral: 7, account_data: { events: [{ type: 'm.fully_read', content: { event_id: {} } }] } },
  ];
  for (const join of others) await world.deliver({ rooms: { join: { [ROOM]: join } } });
  await world.deliver(joinedRoom('!other', ada.userId, '@yan:elsewhere.test'));
  await world.deliver({ rooms: { join: { '!other': receipt(one.event_id, ada.userId) } } });
  assert.equal((await ada.conversationWith(zoe.userId)).unread, 1);
});

test('a receipt that the homeserver pushes has the account looked after', async () => {
  const { homeserver, ada, zoe } = world;
  await world.openConversation();
  const one = (await said('one')) as { event_id: string };
  await world.deliver(says(one));
  homeserver.queue(ada.userId, { rooms: { join: { [ROOM]: receipt(one.event_id, ada.userId) } } });
  await world.ring({ events: [], ephemeral: receipt(one.event_id, zoe.userId).ephemeral.events });
  await world.ring({ ephemeral: [null, 7, ...receipt(one.event_id, ada.userId).ephemeral.events] });
  await until('the sync', () => homeserver.waiting(ada.userId) === 0);
  assert.equal((await ada.conversationWith(zoe.userId)).unread, 0);
});

test('a question waits for what comes, and ends without it', async () => {
  const { ada } = world;
  const waiting = ask(undefined, 30_000);
  await world.deliver(invitation('!yan', ada.userId, '@yan:elsewhere.test'));
  assert.equal((await waiting).notices.length, 1);
});

test('of a flood of strangers a few are told, and all are there', async () => {
  const { ada } = world;
  const rooms = Object.assign(
    {},
    ...Array.from({ length: 300 }, (_, count) => {
      const one = invitation(`!s${count}`, ada.userId, `@s${count}:elsewhere.test`);
      return (one as { rooms: { invite: object } }).rooms.invite;
    }),
  );
  await world.deliver({ rooms: { invite: rooms } });
  const first = await ask();
  assert.equal(first.notices.length, 20);
  assert.deepEqual(statesOf(await ask(first.cursor)), []);
  const { conversations } = await ada.ask('conversations', { limit: 100 });
  assert.ok(conversations.every(({ state }) => state === 'request'));
  // Other accounts have their own.
  const ben = world.person('ben');
  await ben.ask('identity', {});
  world.homeserver.queue(ben.userId, invitation('!b', ben.userId, '@s1:elsewhere.test'));
  await world.ring({ events: [{ state_key: ben.userId }] });
  await ben.conversationWith('@s1:elsewhere.test', 'request');
  assert.equal((await ask()).notices[0]?.accountId, ben.accountId);
});

test('who does not present the token of core is told nothing, nor who asks for anything else', async () => {
  const request = { version: 1, operation: 'notices', input: { timeoutMs: 0, limit: 1 } };
  assert.equal((await post(request, 'another')).status, 401);
  for (const wrong of [
    { ...request, version: 2 },
    { ...request, input: { timeoutMs: 0 } },
    { ...request, input: { timeoutMs: 60_000, limit: 1 } },
    { ...request, subject: {} },
  ])
    assert.equal((await post(wrong)).status, 400, JSON.stringify(wrong));
});
