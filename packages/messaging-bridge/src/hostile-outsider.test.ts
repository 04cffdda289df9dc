// Somebody elsewhere who was let in once, and sends everything that they can be made to send: after each of it the account writes and
// reads as before, what it wrote is as it wrote it, nothing is shown that was not encrypted by who is said to have, and core takes every answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../tests/support/wait.ts';
import { event, invitation, joinedRoom, Raw } from '../test-support/fake-homeserver.ts';
import { type ForeignDevice, openForeignDevice } from '../test-support/foreign-device.ts';
import { HOSTILE_CASES, type Outsider } from '../test-support/hostile-events.ts';
import { HOSTILE_FLOODS } from '../test-support/hostile-floods.ts';
import { failsWith, type HostileWorld, ROOM, startHostileWorld, text } from '../test-support/hostile-world.ts';

const FRIENDS = '!friends';

let world: HostileWorld;
let friend: ForeignDevice;
let outsider: Outsider;
/** With the attacker, and with the friend. */
let hostile: string;
let honest: string;
let count = 0;

before(async () => {
  world = await startHostileWorld();
  const { homeserver, ada, zoe } = world;
  friend = await openForeignDevice(homeserver, 'yan');
  await world.deliver(joinedRoom(FRIENDS, ada.userId, friend.userId));
  honest = (await ada.conversationWith(friend.userId, 'open')).id;
  hostile = await world.openConversation();
  const { message } = await send(hostile, 'mine: never changed by anybody else');
  outsider = {
    victim: ada.userId,
    room: ROOM,
    attacker: zoe,
    second: await openForeignDevice(homeserver, 'xia'),
    ownMessage: message.id,
    friend: { userId: friend.userId, room: FRIENDS },
  };
});
after(() => world?.close());

const send = (conversationId: string, body: string) =>
  world.ada.ask('send', { conversationId, transactionId: body, message: { body } });

/** All that core can ask for, which the schemas of the contract read as core does. */
async function everything(): Promise<{ readonly bodies: string[]; readonly ids: string[] }> {
  const { ada } = world;
  const { conversations } = await ada.ask('conversations', { limit: 100 });
  await ada.ask('sync', { timeoutMs: 0, limit: 100 });
  const bodies: string[] = [];
  for (const { id } of conversations) {
    const { messages } = await ada.ask('messages', { conversationId: id, limit: 100 });
    bodies.push(...messages.map(({ body }) => body));
  }
  return { bodies, ids: conversations.map(({ id }) => id) };
}

/** The friend writes, the account answers, and both are whole. */
async function friendsWrite(): Promise<void> {
  const { ada, homeserver } = world;
  count += 1;
  if (count % 20 === 1) await friend.share(FRIENDS, ada.userId);
  const content = await friend.encrypt(FRIENDS, text(`from a friend ${count}`));
  const keys = homeserver.unqueue(ada.userId);
  await world.deliver(...keys, {
    rooms: { join: { [FRIENDS]: { timeline: { events: [event('m.room.encrypted', friend.userId, content)] } } } },
  });
  await until('the friend’s message', async () => (await world.bodies(honest)).includes(`from a friend ${count}`));
  await send(honest, `to a friend ${count}`);
  assert.equal((await ada.conversationWith(friend.userId)).state, 'open');
}

for (const { name, syncs } of [...HOSTILE_CASES, ...HOSTILE_FLOODS]) {
  test(name, async () => {
    const { homeserver, ada, zoe } = world;
    // What is to come before it, such as keys that were given, is already queued.
    const made = await syncs(outsider);
    await world.deliver(...made);
    await friendsWrite();
    const { bodies } = await everything();
    assert.deepEqual(
      bodies.filter((body) => body.includes('canary')),
      [],
    );
    assert.equal(bodies.filter((body) => body === 'mine: never changed by anybody else').length, 1);
    assert.ok(bodies.filter((body) => body === 'once alone').length <= 1);
    for (const { path, body } of world.sendsTo()) {
      assert.equal(path.split('/')[4], 'm.room.encrypted');
      assert.equal(body.algorithm, 'm.megolm.v1.aes-sha2');
    }
    // Nobody was given a key, a secret or anything else that they asked for.
    const given = homeserver.calls.filter(({ path }) => /^\/sendToDevice\/m\.(forwarded|secret|room_key_)/.test(path));
    assert.deepEqual(given, []);
    await send(hostile, `to the attacker after: ${name}`.slice(0, 128));
    assert.equal((await ada.conversationWith(zoe.userId)).state, 'open');
  });
}

test('after all of it a bridge that is started anew shows the same', async () => {
  const before = await everything();
  await world.restart();
  assert.deepEqual(await everything(), before);
  await friendsWrite();
});

test('an upgrade to a room of others, to one that leads back, and a chain of upgrades have the account in few rooms', async () => {
  const { homeserver, ada, zoe } = world;
  const tombstone = (room: string, next: string) => ({
    rooms: {
      join: {
        [room]: {
          state: { events: [event('m.room.tombstone', zoe.userId, { replacement_room: next }, { state_key: '' })] },
        },
      },
    },
  });
  const joins = () => homeserver.calls.filter(({ path }) => path.startsWith('/join/')).length;
  homeserver.instead(/^\/join\/!chain/, ({ path }) => {
    const room = path.slice('/join/'.length);
    const next = Number(room.slice('!chain'.length)) + 1;
    const upgrade = event('m.room.tombstone', zoe.userId, { replacement_room: `!chain${next}` }, { state_key: '' });
    homeserver.queue(ada.userId, joinedRoom(room, ada.userId, zoe.userId, {}, [upgrade]));
    return { room_id: room };
  });
  // Back to itself, and to the room with the friend.
  await world.deliver(tombstone(ROOM, ROOM), tombstone(ROOM, FRIENDS));
  await friendsWrite();
  await world.deliver(tombstone(ROOM, '!chain0'));
  // Each has the account synced.
  for (let number = 0; number < 60; number += 1) await ada.ask('direct', { to: zoe.userId });
  assert.ok(joins() > 30, `${joins()} rooms were joined`);
  assert.ok(joins() <= 50, `${joins()} rooms were joined`);
  await friendsWrite();
  await everything();
});

test('strangers who ask and take it back, under ever other names, fill no more than is kept', async () => {
  const { ada } = world;
  for (let page = 0; page < 4; page += 1) {
    const rooms: Record<string, object> = {};
    for (let number = 0; number < 400; number += 1) {
      const one = invitation(`!w${page}-${number}`, ada.userId, `@w${page}-${number}:evil.test`);
      Object.assign(rooms, (one as { rooms: { invite: object } }).rooms.invite);
    }
    const leave = Object.fromEntries(Object.keys(rooms).map((room) => [room, {}]));
    await world.deliver({ rooms: { invite: rooms } }, { rooms: { leave } });
  }
  let kept = 0;
  let cursor: string | null = null;
  do {
    const page: { conversations: object[]; nextCursor: string | null } = await ada.ask('conversations', {
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    });
    kept += page.conversations.length;
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.ok(kept <= 1_100, `${kept} conversations are kept`);
  await friendsWrite();
});

test('what cannot be decrypted, by thousands and large, is kept up to a bound, and costs others nothing once it is said', async () => {
  const { zoe } = world;
  const events = (from: number, ciphertext: string) =>
    Array.from({ length: 500 }, (_, number) =>
      event('m.room.encrypted', zoe.userId, {
        algorithm: 'm.megolm.v1.aes-sha2',
        session_id: `s${from + number}`,
        ciphertext: ciphertext + (from + number),
      }),
    );
  for (const [from, ciphertext] of [
    [0, 'x'],
    [500, 'y'.repeat(40_000)],
    [1_000, 'z'.repeat(40_000)],
  ] as const)
    await world.deliver({ rooms: { join: { [ROOM]: { timeline: { events: events(from, ciphertext) } } } } });
  assert.ok((await world.storeBytes()) < 64 * 1024 * 1024);
  await friendsWrite();
});

test('of a room whose earlier messages a server never gives some are missing after a few tries, which is said', async () => {
  const { homeserver, ada, zoe } = world;
  const restore = homeserver.instead(/^\/rooms\/!room\/messages$/, () => new Raw(504, '<html>'));
  const limited = {
    next_batch: 'limited',
    rooms: { join: { [ROOM]: { timeline: { events: [], limited: true, prev_batch: 'before' } } } },
  };
  homeserver.queue(ada.userId, ...Array.from({ length: 3 }, () => limited));
  await until('the line', async () => {
    await world.ring();
    return (await world.bodies(hostile)).some((body) => /messages are missing/.test(body));
  });
  restore();
  await friendsWrite();
  assert.equal((await ada.conversationWith(zoe.userId)).state, 'open');
});

test('who may not write in the other side’s room is told so, and that nothing was sent', async () => {
  const { homeserver } = world;
  const restore = homeserver.instead(/\/send\//, () => new Raw(403, '{"errcode":"M_FORBIDDEN","error":"power level"}'));
  await assert.rejects(
    send(hostile, 'muted'),
    (error) => failsWith('conflict')(error) && /does not let/.test(String(error)),
  );
  restore();
  await friendsWrite();
});
