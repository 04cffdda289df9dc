// A homeserver that lies, repeats itself and breaks off, as a fake one: nothing is sent without encryption, nothing is shown that
// was not encrypted, nothing comes twice, and what is malformed stops nothing else.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { MessagingBridgeResult } from '@platform/contract';
import type { Person } from '../../../tests/support/bridge-world.ts';
import { until } from '../../../tests/support/wait.ts';
import { event, type FakeHomeserver, invitation, joinedRoom, Raw } from '../test-support/fake-homeserver.ts';
import type { ForeignDevice } from '../test-support/foreign-device.ts';
import {
  failsWith,
  type HostileWorld,
  HS_TOKEN,
  ROOM,
  says,
  startHostileWorld,
  TOKEN,
  text,
} from '../test-support/hostile-world.ts';

let world: HostileWorld;
let homeserver: FakeHomeserver;
let ada: Person;
let zoe: ForeignDevice;

beforeEach(async () => {
  world = await startHostileWorld();
  ({ homeserver, ada, zoe } = world);
});
afterEach(() => world.close());

test('a room that is never shown as encrypted is not used, and nothing is sent to it', async () => {
  const restore = homeserver.instead(/^\/createRoom$/, () => {
    homeserver.queue(ada.userId, joinedRoom('!plain', ada.userId, zoe.userId, { encrypted: false }));
    return { room_id: '!plain' };
  });
  await assert.rejects(ada.ask('direct', { to: zoe.userId }), failsWith('no_encryption'));
  restore();
  assert.deepEqual(world.sendsTo(), []);
});

test('a request to a room without encryption cannot be accepted, and the room is left', async () => {
  await world.deliver(invitation('!plain', ada.userId, zoe.userId, false));
  const { id } = await ada.conversationWith(zoe.userId, 'request');
  const restore = homeserver.instead(/^\/join\/!plain$/, () => {
    const said = [event('m.room.message', zoe.userId, text('canary'))];
    homeserver.queue(ada.userId, joinedRoom('!plain', ada.userId, zoe.userId, { encrypted: false }, said));
    return { room_id: '!plain' };
  });
  await assert.rejects(ada.ask('accept', { conversationId: id }), failsWith('no_encryption'));
  restore();
  assert.ok(homeserver.calls.some(({ path: called }) => called === '/rooms/!plain/leave'));
  assert.equal((await ada.conversationWith(zoe.userId)).state, 'request');
  assert.ok(!(await world.bodies(id)).some((body) => body.includes('canary')));
  await assert.rejects(
    ada.ask('send', { conversationId: id, transactionId: '1', message: { body: 'x' } }),
    failsWith('conflict'),
  );
  assert.deepEqual(world.sendsTo(), []);
});

test('to somebody without a device that encrypts nothing is sent, which is said in words', async () => {
  const { conversation } = await ada.ask('direct', { to: '@nodevice:elsewhere.test' });
  const send = ada.ask('send', {
    conversationId: conversation.id,
    transactionId: '1',
    message: { body: 'canary' },
  });
  await assert.rejects(send, (error) => failsWith('no_encryption')(error) && /no device/.test(String(error)));
  assert.deepEqual(world.sendsTo(), []);
});

test('a server whose keys are not given is unreachable, and nothing is sent until it gives them', async () => {
  const id = await world.openConversation();
  const restore = homeserver.instead(/^\/keys\/query$/, () => ({
    device_keys: {},
    failures: { 'elsewhere.test': { status: 503 } },
  }));
  homeserver.queue(ada.userId, { device_lists: { changed: [zoe.userId] } });
  const send = () => ada.ask('send', { conversationId: id, transactionId: '1', message: { body: 'canary' } });
  await assert.rejects(send(), failsWith('unreachable'));
  assert.deepEqual(world.sendsTo(), []);
  restore();
  // The library waits a while before it asks such a server again; a change of the list has it ask at once.
  homeserver.queue(ada.userId, { device_lists: { changed: [zoe.userId] } });
  await until('a message', () => send().catch(() => null));
  assert.equal(world.sendsTo().length, 1);
  assert.ok(!JSON.stringify(homeserver.calls).includes('canary'));
});

test('events that come again, under the same id or another one, are shown once', async () => {
  const id = await world.openConversation();
  const content = await zoe.encrypt(ROOM, text('once'));
  const sent = event('m.room.encrypted', zoe.userId, content);
  const again = event('m.room.encrypted', zoe.userId, content);
  const later = event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, text('later')));
  await world.deliver(says(sent, sent), says(sent, again, later), says(later, again));
  assert.deepEqual(await world.bodies(id), ['once', 'later']);
});

test('a message put into the mouth of somebody else is not shown as theirs', async () => {
  const id = await world.openConversation();
  const content = await zoe.encrypt(ROOM, text('canary: of Zoe'));
  const honest = await zoe.encrypt(ROOM, text('honest'));
  await world.deliver(
    says(event('m.room.encrypted', ada.userId, content), event('m.room.encrypted', zoe.userId, honest)),
  );
  await ada.receives('honest');
  assert.ok(!(await world.bodies(id)).some((body) => body.includes('canary')));
});

test('what was not encrypted is not shown, whatever it claims to be', async () => {
  const id = await world.openConversation();
  await world.deliver(
    says(
      event('m.room.message', zoe.userId, text('canary')),
      event('m.room.encrypted', zoe.userId, { algorithm: 'm.megolm.v1.aes-sha2', body: 'canary', ciphertext: 'x' }),
      event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, text('encrypted'))),
    ),
  );
  await ada.receives('encrypted');
  const shown = await world.bodies(id);
  assert.ok(shown.includes('Sent a message without encryption, which isn’t shown.'));
  assert.ok(!shown.some((body) => body.includes('canary')));
});

test('malformed events and to-device messages stop nothing else', async () => {
  const id = await world.openConversation();
  const good = event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, text('good')));
  const malformed = [null, 7, 'x', [], {}, { type: 1 }, { type: 'm.room.encrypted', sender: {}, content: null }];
  const toDevice = [
    ...malformed,
    { type: 'm.room.encrypted', sender: zoe.userId, content: {} },
    { type: 'm.room_key', sender: zoe.userId, content: { algorithm: 7 } },
    { type: 'm.room.encrypted', sender: 'nobody', content: { algorithm: 'm.olm.v1.curve25519-aes-sha2' } },
    { type: 'm.secret.send', sender: zoe.userId, content: { secret: 'x'.repeat(100_000) } },
  ];
  await world.deliver({
    to_device: { events: toDevice },
    device_lists: { changed: [1, '@', zoe.userId], left: null },
    device_one_time_keys_count: { signed_curve25519: -1, other: 'x' },
    rooms: {
      join: { [ROOM]: { timeline: { events: [...malformed, good] } }, '!other': null, '!third': { timeline: 7 } },
      invite: { '!bad': { invite_state: { events: malformed } }, '!worse': 1 },
      leave: { '!gone': [] },
    },
  });
  await ada.receives('good');
  assert.deepEqual(await world.bodies(id), ['good']);
});

test('rooms in which nobody else is, or several, are nobody’s conversation, and one that becomes a group is left', async () => {
  const id = await world.openConversation();
  const alone = { timeline: { events: [event('m.room.message', zoe.userId, text('canary'))] } };
  const third = event('m.room.member', zoe.userId, { membership: 'invite' }, { state_key: '@third:elsewhere.test' });
  await world.deliver({ rooms: { join: { '!alone': alone } } }, says(third));
  await ada.receives(/more than two people/);
  await until('the room to be left', () =>
    homeserver.calls.some(({ path: called }) => called === `/rooms/${ROOM}/leave`),
  );
  assert.equal((await ada.ask('conversations', { limit: 10 })).conversations.length, 1);
  assert.ok(!(await world.bodies(id)).some((body) => body.includes('canary')));
});

test('a stranger, or ten thousand of them, who invite without end fill no more than the requests that are kept', async () => {
  const rooms = (from: (count: number) => string) =>
    Object.assign(
      {},
      ...Array.from({ length: 10_000 }, (_, count) => {
        const { rooms: one } = invitation(`!${from(count)}${count}`, ada.userId, from(count)) as {
          rooms: { invite: object };
        };
        return one.invite;
      }),
    );
  await world.deliver(
    { rooms: { invite: rooms(() => '@one:elsewhere.test') } },
    { rooms: { invite: rooms((count) => `@s${count}:elsewhere.test`) } },
  );
  const from: (string | undefined)[] = [];
  let cursor: string | null = null;
  do {
    const page: MessagingBridgeResult<'conversations'> = await ada.ask('conversations', {
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    });
    from.push(...page.conversations.map(({ participants }) => participants[0]?.transportUserId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.equal(from.length, 1_000);
  assert.equal(from.filter((userId) => userId === '@one:elsewhere.test').length, 1);
});

test('an answer that is too long, no answer, and one that is no JSON are “unavailable”, and nothing of them is kept', async () => {
  const id = await world.openConversation();
  const send = (transactionId: string) =>
    ada.ask('send', { conversationId: id, transactionId, message: { body: 'canary' } });
  const answers = [
    new Raw(200, Buffer.alloc(33 * 1024 * 1024, 0x20)),
    new Raw(200, 'this is no JSON'),
    new Raw(200, '{"next_batch": 7}'),
    new Raw(502, '<html>'),
    new Raw(401, '{"errcode":"M_UNKNOWN_TOKEN"}'),
  ];
  for (const [number, raw] of answers.entries()) {
    const restore = homeserver.instead(/^\/sync$/, () => raw);
    await assert.rejects(send(String(number)), failsWith('unavailable'), String(number));
    restore();
  }
  const restore = homeserver.instead(/^\/sync$/, () => new Raw(429, '{"errcode":"M_LIMIT_EXCEEDED"}'));
  await assert.rejects(send('limited'), failsWith('rate_limited'));
  restore();
  assert.deepEqual(await world.bodies(id), []);
  assert.equal((await send('at last')).message.body, 'canary');
});

test('who does not present the token of core or of the homeserver is refused, and so is what is no request', async () => {
  assert.equal(await world.ring({ events: [] }, 'another'), 403);
  assert.equal(await world.ring({ events: [] }, TOKEN), 403);
  assert.equal(await world.ring('no transaction'), 200);
  const url = `http://127.0.0.1:${world.bridge.port}/v1/platform-messaging`;
  const subject = {
    accountId: ada.accountId,
    platformName: 'ada',
    platformAddress: 'ada@fake.test',
    transportUserId: ada.userId,
  };
  const request = { version: 1, operation: 'identity', subject, input: {} };
  const post = async (body: unknown, token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  };
  assert.equal(await post(request), 200);
  assert.equal(await post(request, HS_TOKEN), 401);
  for (const wrong of [
    { ...request, version: 2 },
    { ...request, operation: 'export' },
    { ...request, more: true },
    { ...request, input: { more: true } },
    { ...request, subject: { ...subject, transportUserId: 'ada' } },
    null,
  ])
    assert.equal(await post(wrong), 400, JSON.stringify(wrong));
  // Of another server, and of an account that is bound to another one.
  assert.equal(await post({ ...request, subject: { ...subject, transportUserId: '@ada:other.test' } }), 409);
  assert.equal(await post({ ...request, subject: { ...subject, accountId: 'another' } }), 409);
});

test('a refusal of an account altogether, or of a path, gives up no room and no message', async () => {
  const { homeserver, ada } = world;
  const id = await world.openConversation();
  await world.deliver(invitation('!yan', ada.userId, '@yan:elsewhere.test'));
  const { id: request } = await ada.conversationWith('@yan:elsewhere.test', 'request');
  const refusing = (path: RegExp, status: number, errcode: string) =>
    homeserver.instead(path, () => new Raw(status, JSON.stringify({ errcode, error: 'no' })));
  const send = () => ada.ask('send', { conversationId: id, transactionId: 'once', message: { body: 'once' } });

  const nobody = refusing(/^\/account\/whoami$/, 403, 'M_FORBIDDEN');
  const all = [/\/send\//, /\/leave$/, /^\/join\//].map((path) => refusing(path, 403, 'M_FORBIDDEN'));
  await assert.rejects(send(), failsWith('unavailable'));
  await assert.rejects(ada.ask('accept', { conversationId: request }), failsWith('unavailable'));
  for (const restore of all) restore();
  const unknown = [/\/send\//, /\/leave$/, /^\/join\//].map((path) => refusing(path, 404, 'M_UNRECOGNIZED'));
  nobody();
  await assert.rejects(send(), failsWith('unavailable'));
  await assert.rejects(ada.ask('accept', { conversationId: request }), failsWith('unreachable'));
  await assert.rejects(ada.ask('leave', { conversationId: id }), failsWith('unavailable'));
  for (const restore of unknown) restore();
  const before = world.sendsTo().map(({ body }) => body.ciphertext);
  assert.equal(new Set(before).size, 1);

  homeserver.instead(/^\/join\//, () => {
    homeserver.queue(ada.userId, joinedRoom('!yan', ada.userId, '@yan:elsewhere.test'));
    return { room_id: '!yan' };
  });
  assert.equal((await ada.ask('accept', { conversationId: request })).conversation.state, 'open');
  const left = () => homeserver.calls.filter(({ path }) => path === `/rooms/${ROOM}/leave`).length;
  const leaves = left();
  await ada.ask('leave', { conversationId: id });
  assert.equal(left(), leaves + 1);
});
