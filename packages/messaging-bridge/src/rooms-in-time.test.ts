// Rooms that a homeserver shows late, or lets nobody join yet, for none of which it rings; and what is said while nobody listens.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { until } from '../../../tests/support/wait.ts';
import { event, invitation, joinedRoom, Raw } from '../test-support/fake-homeserver.ts';
import { type HostileWorld, ROOM, says, startHostileWorld, text } from '../test-support/hostile-world.ts';

const NEXT = '!next';

let world: HostileWorld;
beforeEach(async () => {
  world = await startHostileWorld();
});
afterEach(() => world.close());

const tombstone = () => event('m.room.tombstone', world.zoe.userId, { replacement_room: NEXT }, { state_key: '' });

/** Has the room of the upgrade be shown by a later sync than the one that follows the join, with a message. */
async function showLate(body: string): Promise<void> {
  const { homeserver, ada, zoe } = world;
  await zoe.share(NEXT, ada.userId);
  const said = event('m.room.encrypted', zoe.userId, await zoe.encrypt(NEXT, text(body)));
  homeserver.queue(ada.userId, {}, {}, joinedRoom(NEXT, ada.userId, zoe.userId, {}, [said]));
}

const joins = () => world.homeserver.calls.filter(({ path }) => path === `/join/${NEXT}`);

/** Looked up without a use of the account, which would have the bridge ask. */
const isTaken = () => until('the sync with the room', () => world.homeserver.waiting(world.ada.userId) === 0);

test('a room that is joined and shown later is taken in as soon as it is shown, though nobody rings', async () => {
  const { homeserver, ada } = world;
  const id = await world.openConversation();
  homeserver.instead(/^\/join\//, () => showLate('in the new room').then(() => ({ room_id: NEXT })));
  homeserver.queue(ada.userId, says(tombstone()));
  await world.ring();
  await until('the room to be joined', () => joins().length > 0);
  await isTaken();
  assert.equal((await ada.receives('in the new room')).conversationId, id);
});

test('a room that cannot be joined at first is tried again, though nobody rings', async () => {
  const { homeserver, ada } = world;
  const id = await world.openConversation();
  let refusals = 3;
  homeserver.instead(/^\/join\//, () => {
    refusals -= 1;
    if (refusals >= 0) return new Raw(502, '{"errcode":"M_UNKNOWN","error":"not now"}');
    return showLate('at last').then(() => ({ room_id: NEXT }));
  });
  homeserver.queue(ada.userId, says(tombstone()));
  await world.ring();
  await until('the room to be joined', () => joins().length > 3);
  await isTaken();
  assert.equal((await ada.receives('at last')).conversationId, id);
});

test('what an operation of core leaves to wait for is waited for, though nobody rings', async () => {
  const { homeserver, ada, zoe } = world;
  const id = await world.openConversation();
  homeserver.instead(/^\/join\//, () => showLate('after an operation').then(() => ({ room_id: NEXT })));
  homeserver.queue(ada.userId, says(tombstone()));
  await ada.ask('send', { conversationId: id, transactionId: '1', message: { body: 'x' } });
  await isTaken();
  assert.equal((await ada.receives('after an operation')).conversationId, id);
  assert.equal((await ada.conversationWith(zoe.userId)).state, 'open');
});

test('what was said while a conversation was blocked or left is not heard later, also in the same room', async () => {
  const { homeserver, ada, zoe } = world;
  const id = await world.openConversation();
  const said = async (body: string, membership = 'join') =>
    event('m.room.encrypted', zoe.userId, await zoe.encrypt(ROOM, text(body)), { unsigned: { membership } });
  const [first, walled, second] = [await said('first'), await said('to the wall'), await said('second')];
  await world.deliver(says(first));
  await ada.ask('block', { conversationId: id });
  await world.deliver(says(walled));
  await ada.ask('direct', { to: zoe.userId });
  // The homeserver left something out, and gives all of it.
  homeserver.instead(/\/messages$/, () => ({ chunk: [second, walled, first] }));
  await world.deliver({ rooms: { join: { [ROOM]: { timeline: { events: [], limited: true, prev_batch: 'x' } } } } });
  await until('what was left out', async () => (await world.bodies(id)).length === 2);
  assert.deepEqual(await world.bodies(id), ['first', 'second']);
  await ada.ask('leave', { conversationId: id });
  const [away, third] = [await said('to an empty room', 'leave'), await said('third')];
  homeserver.instead(/^\/join\//, () => {
    homeserver.queue(ada.userId, joinedRoom(ROOM, ada.userId, zoe.userId, {}, [first, walled, second, away, third]));
    return { room_id: ROOM };
  });
  homeserver.queue(ada.userId, invitation(ROOM, ada.userId, zoe.userId));
  await ada.ask('direct', { to: zoe.userId });
  assert.deepEqual(await world.bodies(id), ['first', 'second', 'third']);
});
