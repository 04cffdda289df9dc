// Somebody who was let in, or only knows the address, and sends without end: what they fill is bounded, and nobody else waits.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../tests/support/wait.ts';
import { event, invitation, joinedRoom } from '../test-support/fake-homeserver.ts';
import { openForeignDevice } from '../test-support/foreign-device.ts';
import { type HostileWorld, ROOM, says, startHostileWorld, text } from '../test-support/hostile-world.ts';

let world: HostileWorld;
beforeEach(async () => {
  world = await startHostileWorld();
});
afterEach(() => world.close());

test('messages without end are kept up to a bound, the newest of them, and those of others stay', async () => {
  const { homeserver, ada, zoe } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  await world.deliver(joinedRoom('!other', ada.userId, yan.userId));
  await yan.share('!other', ada.userId);
  const kept = event('m.room.encrypted', yan.userId, await yan.encrypt('!other', text('kept')));
  await world.deliver({ rooms: { join: { '!other': { timeline: { events: [kept] } } } } });
  const other = (await ada.conversationWith(yan.userId, 'open')).id;
  const id = await world.openConversation();
  const most = 16 * 1024 * 1024;
  const size = 60_000;
  const sent = Math.ceil((1.5 * most) / (2 * size));
  const events: object[] = [];
  for (let number = 1; number <= sent; number += 1) {
    // A key is for a hundred messages at most.
    if (number % 50 === 1) await zoe.share(ROOM, ada.userId);
    const body = `${number} `.padEnd(size, 'x');
    events.push(event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, text(body))));
  }
  const keys = homeserver.unqueue(ada.userId);
  await world.deliver(...keys, says(...events.slice(0, 100)), says(...events.slice(100)));
  const numbers: number[] = [];
  let cursor: string | null = null;
  do {
    const page: { messages: { body: string }[]; nextCursor: string | null } = await ada.ask('messages', {
      conversationId: id,
      limit: 100,
      ...(cursor === null ? {} : { cursor }),
    });
    numbers.push(...page.messages.map(({ body }) => Number.parseInt(body, 10)));
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.ok(numbers.length * 2 * size <= most, `${numbers.length} are kept`);
  assert.ok(numbers.length * 2 * size >= most / 2, `${numbers.length} are kept`);
  assert.deepEqual(
    numbers,
    Array.from({ length: numbers.length }, (_, at) => sent - at),
  );
  assert.deepEqual(await world.bodies(other), ['kept']);
});

test('keys of somebody without a conversation are not kept, and those that come with an invitation are', async () => {
  const { homeserver, ada, zoe } = world;
  const mallory = await openForeignDevice(homeserver, 'mallory');
  await mallory.share('!mallory', ada.userId);
  await world.deliver({});
  const said = async (by: typeof zoe, room: string, body: string) =>
    event('m.room.encrypted', by.userId, await by.encrypt(room, text(body)));
  // Had it been kept, it would be read now.
  await world.deliver(
    joinedRoom('!mallory', ada.userId, mallory.userId, {}, [await said(mallory, '!mallory', 'canary')]),
  );
  const { id } = await ada.conversationWith(mallory.userId, 'open');
  assert.deepEqual(await world.bodies(id), []);
  await zoe.share('!zoe', ada.userId);
  const keys = homeserver.unqueue(ada.userId);
  assert.equal(keys.length, 1);
  await world.deliver({ ...keys[0], ...invitation('!zoe', ada.userId, zoe.userId) });
  const request = await ada.conversationWith(zoe.userId, 'request');
  homeserver.instead(/^\/join\//, async () => {
    homeserver.queue(ada.userId, joinedRoom('!zoe', ada.userId, zoe.userId, {}, [await said(zoe, '!zoe', 'hello')]));
    return { room_id: '!zoe' };
  });
  await ada.ask('accept', { conversationId: request.id });
  await ada.receives('hello');
});

test('rooms whose server never lets anybody in hold up nobody else', async () => {
  const { homeserver, ada, zoe } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  await world.deliver(joinedRoom('!other', ada.userId, yan.userId));
  const other = (await ada.conversationWith(yan.userId, 'open')).id;
  await world.openConversation();
  const ending = new AbortController();
  homeserver.instead(/^\/join\//, () => delay(600_000, {}, { signal: ending.signal, ref: false }).catch(() => ({})));
  const rooms = Array.from({ length: 40 }, (_, count) => invitation(`!slow${count}`, ada.userId, zoe.userId));
  homeserver.queue(ada.userId, ...rooms);
  await world.ring();
  await until('the first to be asked for', () => homeserver.calls.some(({ path }) => path.startsWith('/join/')));
  for (let number = 0; number < 5; number += 1)
    await ada.ask('send', { conversationId: other, transactionId: `${number}`, message: { body: `${number}` } });
  const joins = homeserver.calls.filter(({ path }) => path.startsWith('/join/')).length;
  assert.ok(joins <= 2, `${joins} rooms were tried`);
  assert.equal(world.sendsTo().length, 5);
  ending.abort();
});
