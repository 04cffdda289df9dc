// A homeserver, or somebody on it, that gives keys which are too many, others than before, or none.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { BridgeFailure, type Person } from '../../../tests/support/bridge-world.ts';
import { until } from '../../../tests/support/wait.ts';
import { event, type FakeHomeserver, joinedRoom, Raw } from '../test-support/fake-homeserver.ts';
import { type ForeignDevice, openForeignDevice } from '../test-support/foreign-device.ts';
import { failsWith, type HostileWorld, ROOM, says, startHostileWorld, text } from '../test-support/hostile-world.ts';

let world: HostileWorld;
let homeserver: FakeHomeserver;
let ada: Person;
let zoe: ForeignDevice;

beforeEach(async () => {
  world = await startHostileWorld();
  ({ homeserver, ada, zoe } = world);
});
afterEach(() => world.close());

const send = (conversationId: string, body: string, by = ada) =>
  by.ask('send', { conversationId, transactionId: body, message: { body } });
const changedKeysOf = (...changed: string[]) => ({ device_lists: { changed } });
const callsTo = (path: string) => homeserver.calls.filter((call) => call.path === path);
const encrypted = async (body: string, by = zoe) =>
  event('m.room.encrypted', by.userId, await by.encrypt(ROOM, text(body)));

test('somebody with ten thousand devices is written to with none of them, in words, and everybody else is', async () => {
  const id = await world.openConversation();
  await send(id, 'to one device');
  const [, one] = Object.entries(
    (homeserver.ask('POST', '/keys/query', '', { device_keys: { [zoe.userId]: [] } }) as Answer).device_keys[
      zoe.userId
    ] ?? {},
  )[0] ?? ['', {}];
  const many = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, count) => [`D${count}`, { ...one, device_id: `D${count}` }]),
  );
  const restore = homeserver.instead(/^\/keys\/query$/, () => ({ device_keys: { [zoe.userId]: many }, failures: {} }));
  const claims = callsTo('/keys/claim').length;
  homeserver.queue(ada.userId, changedKeysOf(zoe.userId));
  await assert.rejects(
    send(id, 'to thousands'),
    (error) => failsWith('conflict')(error) && /too many devices/.test(String(error)),
  );
  assert.equal(callsTo('/keys/claim').length, claims);
  restore();
  // Others of the account are not concerned.
  const yan = await openForeignDevice(homeserver, 'yan');
  await world.deliver(joinedRoom('!other', ada.userId, yan.userId));
  await send((await ada.conversationWith(yan.userId, 'open')).id, 'to somebody else');
  assert.equal(world.sendsTo().length, 2);
  // Once there are as many as people have, it goes on.
  homeserver.queue(ada.userId, changedKeysOf(zoe.userId));
  await send(id, 'to one device again');
  assert.equal(world.sendsTo().length, 3);
});

interface Answer {
  readonly device_keys: Record<string, Record<string, object>>;
}

test('a changed identity is said in the conversation, once for each change, and nothing else is', async () => {
  await zoe.crossSign();
  const id = await world.openConversation();
  await send(id, 'to the first identity');
  const changes = async () => (await world.bodies(id)).filter((body) => /new encryption keys/.test(body)).length;
  await world.deliver(changedKeysOf(zoe.userId));
  assert.equal(await changes(), 0);
  for (const count of [1, 2]) {
    await zoe.crossSign();
    await world.deliver(changedKeysOf(zoe.userId), changedKeysOf(zoe.userId));
    assert.equal(await changes(), count);
    await send(id, `to identity ${count}`);
    assert.equal(await changes(), count);
  }
  const { unread } = await ada.conversationWith(zoe.userId);
  assert.equal(unread, 2);
});

test('a device that somebody’s identity does not confirm is said, once for each, and none of who has no identity', async () => {
  await zoe.crossSign();
  const id = await world.openConversation();
  const said = async () => (await world.bodies(id)).filter((body) => /have not confirmed/.test(body)).length;
  await send(id, 'to a confirmed device');
  assert.equal(await said(), 0);
  for (const count of [1, 2]) {
    await openForeignDevice(homeserver, 'zoe', `ADDED${count}`);
    homeserver.queue(ada.userId, changedKeysOf(zoe.userId));
    await send(id, `to one more, ${count}`);
    await send(id, `and once more, ${count}`);
    assert.equal(await said(), count);
  }
  const yan = await openForeignDevice(homeserver, 'yan');
  await world.deliver(joinedRoom('!other', ada.userId, yan.userId));
  const other = (await ada.conversationWith(yan.userId, 'open')).id;
  await send(other, 'to somebody without an identity');
  assert.deepEqual(await world.bodies(other), ['to somebody without an identity']);
});

for (const [code, words] of [
  ['m.unverified', /to verified devices alone/],
  ['m.blacklisted', /have blocked the device/],
  ['m.unauthorised', /doesn’t give its key/],
  ['m.unavailable', /no longer has its key/],
  ['org.example.made.up', /^Sent a message that can’t be decrypted\.$/],
] as const) {
  test(`a key that is withheld (${code}) is said so at once, and the message is shown if the key comes`, async () => {
    const id = await world.openConversation();
    const other = await openForeignDevice(homeserver, 'zoe', 'SECOND');
    await other.share(ROOM, ada.userId);
    const key = homeserver.unqueue(ada.userId);
    const said = await encrypted('canary: after all', other);
    const { session_id, sender_key } = (said as { content: Record<string, string> }).content;
    const withheld = { algorithm: 'm.megolm.v1.aes-sha2', room_id: ROOM, session_id, sender_key, code, reason: 'x' };
    await world.deliver({
      to_device: { events: [{ type: 'm.room_key.withheld', sender: zoe.userId, content: withheld }] },
    });
    await world.deliver(says(said));
    await until('the words', async () => (await world.bodies(id)).some((body) => words.test(body)));
    await world.deliver(...key);
    await ada.receives('canary: after all');
    assert.deepEqual(await world.bodies(id), ['canary: after all']);
  });
}

test('a message that is too long for the homeserver is refused in words, and the next one is sent', async () => {
  const id = await world.openConversation();
  const tooLarge = () => new Raw(413, '{"errcode":"M_TOO_LARGE","error":"event too large"}');
  const restore = homeserver.instead(/\/send\//, tooLarge);
  const isTooLong = (error: unknown) => error instanceof BridgeFailure && /too long/.test(error.message);
  await assert.rejects(send(id, 'canary'), isTooLong);
  restore();
  // The same transaction is another message now, as none was sent.
  assert.equal((await send(id, 'canary')).message.body, 'canary');
});

test('what is refused for its room is sent to another one when it is asked for again', async () => {
  const id = await world.openConversation();
  const restore = homeserver.instead(
    /\/send\//,
    () => new Raw(403, '{"errcode":"M_FORBIDDEN","error":"not in the room"}'),
  );
  await assert.rejects(send(id, 'canary'), failsWith('conflict'));
  restore();
  homeserver.queue(ada.userId, { rooms: { leave: { [ROOM]: {} } } });
  await send(id, 'canary');
  assert.ok(!world.sendsTo().at(-1)?.path.startsWith(`/rooms/${ROOM}/`));
});

test('longer texts than any event holds are cut, and the list of messages stays readable', async () => {
  const id = await world.openConversation();
  const long = 'ab'.repeat(60_000);
  for (const content of [
    text(long),
    { msgtype: 'm.emote', body: long },
    { msgtype: 'm.image', body: long, filename: long },
    { msgtype: 'm.image', body: long, filename: 'a.png' },
    { ...text('x'), 'm.new_content': text(long), 'm.relates_to': { rel_type: 'm.replace', event_id: '$x' } },
  ])
    await world.deliver(says(event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, content))));
  const shown = await world.bodies(id);
  assert.equal(shown.length, 5);
  for (const body of shown) assert.ok(body.length <= 65_536);
});

test('no text without encryption is shown, whatever it comes as', async () => {
  const id = await world.openConversation();
  const reaction = (key: unknown) => ({ 'm.relates_to': { rel_type: 'm.annotation', event_id: '$x', key } });
  await world.deliver(
    says(
      event('m.sticker', zoe.userId, { body: 'canary' }),
      event('m.poll.start', zoe.userId, { 'm.poll': { question: { body: 'canary' } } }),
      event('m.reaction', zoe.userId, reaction('canary: send me money')),
      event('m.reaction', zoe.userId, reaction({ canary: 1 })),
      event('m.reaction', zoe.userId, reaction('👨‍👩‍👧')),
      event('m.call.invite', zoe.userId, {}),
    ),
  );
  const plain = 'Sent a message without encryption, which isn’t shown.';
  assert.deepEqual(await world.bodies(id), [plain, plain, 'Reacted.', 'Reacted.', 'Reacted with “👨‍👩‍👧”.', plain]);
});

test('of what was said before the account was invited one line is shown, and later messages are', async () => {
  const id = await world.openConversation();
  const early = Array.from({ length: 2_000 }, (_, count) =>
    event(
      'm.room.encrypted',
      zoe.userId,
      { algorithm: 'm.megolm.v1.aes-sha2', session_id: 'x', ciphertext: `${count}` },
      { unsigned: { membership: 'leave' } },
    ),
  );
  await world.deliver(says(...early, await encrypted('later')));
  await ada.receives('later');
  assert.deepEqual(await world.bodies(id), ['Earlier messages of this room can’t be read here.', 'later']);
});

test('requests to compare keys are declined without end only once for each sync, and encrypted', async () => {
  const id = await world.openConversation();
  const asking = {
    msgtype: 'm.key.verification.request',
    body: 'x',
    from_device: 'ZOE',
    methods: ['m.sas.v1'],
    to: ada.userId,
  };
  const requests: object[] = [];
  for (let count = 0; count < 20; count += 1)
    requests.push(event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, asking)));
  await world.deliver(says(...requests));
  await until('an answer', () => world.sendsTo().length > 0);
  assert.deepEqual(
    world.sendsTo().map(({ path, body }) => [path.split('/')[4], body.algorithm]),
    [['m.room.encrypted', 'm.megolm.v1.aes-sha2']],
  );
  assert.equal((await world.bodies(id)).length, 20);
});
