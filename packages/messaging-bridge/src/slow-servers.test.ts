// Servers of other sides that take their time: other work of an account goes on meanwhile, what belongs to one conversation comes
// in its order, and whoever blocks somebody does not wait for their server.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Person } from '../../../tests/support/bridge-world.ts';
import { until } from '../../../tests/support/wait.ts';
import { event, invitation, joinedRoom, Raw } from '../test-support/fake-homeserver.ts';
import { openForeignDevice } from '../test-support/foreign-device.ts';
import { failsWith, type HostileWorld, says, startHostileWorld, text } from '../test-support/hostile-world.ts';

let world: HostileWorld;
/** With somebody whose server is quick. */
let quick: string;
/** What makes slow calls end. */
let release: () => void;
let slow: Promise<void>;

beforeEach(async () => {
  world = await startHostileWorld();
  quick = await world.openConversation();
  hold();
  history = () => null;
});
afterEach(async () => {
  release();
  await world.close();
});

function hold(): void {
  const held = Promise.withResolvers<void>();
  [release, slow] = [held.resolve, held.promise];
}

const callsTo = (path: string | RegExp) =>
  world.homeserver.calls.filter((call) => (typeof path === 'string' ? call.path === path : path.test(call.path)));
const send = (conversationId: string, body: string, by: Person = world.ada) =>
  by.ask('send', { conversationId, transactionId: body, message: { body } });

/** What an account does with others, which takes no longer than usual. */
async function workGoesOn(): Promise<void> {
  const { ada, zoe } = world;
  await send(quick, `to Zoe ${callsTo(/\/send\//).length}`);
  const said = event('m.room.encrypted', zoe.userId, await zoe.encrypt('!room', text('from Zoe')));
  await world.deliver(says(said));
  const message = await ada.receives('from Zoe');
  await ada.ask('read', { conversationId: quick, messageId: message.id });
  await ada.ask('sync', { timeoutMs: 0, limit: 1 });
}

/** A request of somebody whose server lets nobody in until `release`. */
async function slowRequest(name: string): Promise<string> {
  const { homeserver, ada } = world;
  const other = await openForeignDevice(homeserver, name);
  await world.deliver(invitation(`!${name}`, ada.userId, other.userId));
  const held = slow;
  homeserver.instead(new RegExp(`^/join/!${name}$`), async () => {
    await held;
    homeserver.queue(ada.userId, joinedRoom(`!${name}`, ada.userId, other.userId));
    return { room_id: `!${name}` };
  });
  return (await ada.conversationWith(other.userId, 'request')).id;
}

test('while a request is accepted at a slow server, everything else of the account goes on', async () => {
  const { ada } = world;
  const id = await slowRequest('yan');
  const accepted = ada.ask('accept', { conversationId: id });
  await until('the join', () => callsTo('/join/!yan').length === 1);
  await workGoesOn();
  assert.equal((await ada.conversationWith('@yan:elsewhere.test')).state, 'request');
  release();
  assert.equal((await accepted).conversation.state, 'open');
});

test('what is asked of a conversation that is being accepted comes after it, and the room is joined once', async () => {
  const { ada } = world;
  const id = await slowRequest('yan');
  const order: string[] = [];
  const noted = <Result>(name: string, work: Promise<Result>) =>
    work.then((result) => {
      order.push(name);
      return result;
    });
  const accepted = noted('accept', ada.ask('accept', { conversationId: id }));
  await until('the join', () => callsTo('/join/!yan').length === 1);
  const others = [
    noted('send', send(id, 'to Yan')),
    noted('again', ada.ask('accept', { conversationId: id })),
    noted('direct', ada.ask('direct', { to: '@yan:elsewhere.test' })),
  ];
  await workGoesOn();
  assert.deepEqual(order, []);
  release();
  await Promise.all([accepted, ...others]);
  assert.equal(order[0], 'accept');
  assert.equal(callsTo('/join/!yan').length, 1);
  assert.equal(callsTo('/createRoom').length, 0);
});

test('whoever blocks or declines somebody whose server is slow has done so at once, and what was begun is left', async () => {
  const { ada } = world;
  for (const [name, act] of [
    ['yan', 'block'],
    ['xia', 'decline'],
    ['wim', 'leave'],
  ] as const) {
    hold();
    const id = await slowRequest(name);
    const accepted = ada.ask('accept', { conversationId: id }).catch((error: unknown) => error);
    await until('the join', () => callsTo(`/join/!${name}`).length === 1);
    assert.equal((await ada.ask(act, { conversationId: id })).conversation.state, 'left');
    release();
    assert.ok(failsWith('conflict')(await accepted), act);
    assert.equal(callsTo(`/rooms/!${name}/leave`).length, 1);
    assert.equal((await ada.conversationWith(`@${name}:elsewhere.test`)).state, 'left');
  }
});

test('a request whose join was answered too late is open once it is accepted again', async () => {
  const { homeserver, ada } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  await world.deliver(invitation('!yan', ada.userId, yan.userId));
  const { id } = await ada.conversationWith(yan.userId, 'request');
  const restore = homeserver.instead(/^\/join\//, () => new Raw(504, '<html>'));
  await assert.rejects(ada.ask('accept', { conversationId: id }), failsWith('unavailable'));
  restore();
  // The homeserver went on with it.
  await world.deliver(joinedRoom('!yan', ada.userId, yan.userId));
  assert.equal((await ada.ask('accept', { conversationId: id })).conversation.state, 'open');
});

test('while a room is made with a slow server, everything else goes on, and no conversation is shown before it', async () => {
  const { homeserver, ada } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  homeserver.instead(/^\/createRoom$/, async () => {
    await slow;
    homeserver.queue(ada.userId, joinedRoom('!made', ada.userId, yan.userId, { theirs: 'invite' }));
    return { room_id: '!made' };
  });
  const opened = [1, 2].map(() => ada.ask('direct', { to: yan.userId }));
  await until('the room to be made', () => callsTo('/createRoom').length > 0);
  await workGoesOn();
  assert.equal((await ada.ask('conversations', { limit: 10 })).conversations.length, 1);
  release();
  const answers = await Promise.all(opened);
  assert.deepEqual(
    answers.map(({ created }) => created),
    [true, false],
  );
  assert.equal(callsTo('/createRoom').length, 1);
});

test('a room that a sync shows in parts while it is made is as encrypted as it was made', async () => {
  const { homeserver, ada } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  const state = (...events: object[]) => ({ rooms: { join: { '!made': { state: { events } } } } });
  const member = (userId: string, membership: string) =>
    event('m.room.member', ada.userId, { membership }, { state_key: userId });
  const encryption = event('m.room.encryption', ada.userId, { algorithm: 'm.megolm.v1.aes-sha2' }, { state_key: '' });
  homeserver.instead(/^\/createRoom$/, async () => {
    await slow;
    return { room_id: '!made' };
  });
  const opened = ada.ask('direct', { to: yan.userId });
  await until('the room to be made', () => callsTo('/createRoom').length > 0);
  await world.deliver(state(member(ada.userId, 'join'), encryption));
  homeserver.queue(ada.userId, state(member(yan.userId, 'invite')));
  release();
  assert.equal((await opened).conversation.state, 'requested');
  await send((await opened).conversation.id, 'to Yan');
  assert.equal(
    callsTo(/\/send\//)
      .at(-1)
      ?.path.startsWith('/rooms/!made/'),
    true,
  );
});

test('whoever asks while their room is being made by the other side is in one open conversation', async () => {
  const { homeserver, ada } = world;
  const yan = await openForeignDevice(homeserver, 'yan');
  homeserver.instead(/^\/createRoom$/, async () => {
    await slow;
    homeserver.queue(ada.userId, joinedRoom('!made', ada.userId, yan.userId, { theirs: 'invite' }));
    return { room_id: '!made' };
  });
  homeserver.instead(/^\/join\/!theirs$/, () => {
    homeserver.queue(ada.userId, joinedRoom('!theirs', ada.userId, yan.userId));
    return { room_id: '!theirs' };
  });
  const opened = ada.ask('direct', { to: yan.userId });
  await until('the room to be made', () => callsTo('/createRoom').length > 0);
  await world.deliver(invitation('!theirs', ada.userId, yan.userId));
  release();
  assert.equal((await opened).conversation.state, 'open');
  await send((await opened).conversation.id, 'to Yan');
  assert.equal(
    callsTo(/\/send\//)
      .at(-1)
      ?.path.startsWith('/rooms/!theirs/'),
    true,
  );
});

test('whoever is blocked while a room is made for a message gets nothing, nor of what was encrypted before', async () => {
  const { homeserver, ada, zoe } = world;
  const failing = homeserver.instead(/\/send\//, () => new Raw(502, '<html>'));
  await assert.rejects(send(quick, 'encrypted'), failsWith('unavailable'));
  failing();
  const before = callsTo(/\/send\//).length;
  await world.deliver({ rooms: { leave: { '!room': {} } } });
  homeserver.instead(/^\/createRoom$/, () => ({ room_id: '!made' }));
  const sent = send(quick, 'too late').catch((error: unknown) => error);
  await until('the room to be made', () => callsTo('/createRoom').length === 1);
  // It is shown later.
  await until('a look for it', async () => {
    const asked = callsTo('/sync').length;
    await world.ring();
    return callsTo('/sync').length > asked;
  });
  await ada.ask('block', { conversationId: quick });
  homeserver.queue(ada.userId, joinedRoom('!made', ada.userId, zoe.userId));
  assert.ok(failsWith('conflict')(await sent));
  await assert.rejects(send(quick, 'encrypted'), failsWith('conflict'));
  assert.equal(callsTo(/\/send\//).length, before);
});

/** What a page that begins somewhere has, where it is another one than at the first gap. */
let history: (from: string) => object[] | null = () => null;

/** An open conversation in a room, of which a sync then leaves something out that is at a slow server. */
async function gapWith(name: string) {
  const { homeserver, ada } = world;
  const other = await openForeignDevice(homeserver, name);
  const room = `!${name}`;
  await world.deliver(joinedRoom(room, ada.userId, other.userId));
  await other.share(room, ada.userId);
  await world.deliver({});
  const said = async (body: string) => event('m.room.encrypted', other.userId, await other.encrypt(room, text(body)));
  const [first, second, third, fourth] = await Promise.all(['1', '2', '3', '4'].map(said));
  const held = slow;
  homeserver.instead(new RegExp(`^/rooms/${room}/messages$`), async ({ query }) => {
    await held;
    const chunk = history(query.get('from') ?? '') ?? [third, second, first];
    return { chunk };
  });
  const inRoom = (timeline: object) => ({ rooms: { join: { [room]: { timeline } } } });
  await world.deliver(inRoom({ events: [first] }));
  await world.deliver(inRoom({ events: [fourth], limited: true, prev_batch: 'before' }));
  await until('the history to be asked for', () => callsTo(`/rooms/${room}/messages`).length > 0);
  return {
    id: (await ada.conversationWith(other.userId)).id,
    room,
    said,
    says: async (body: string) => inRoom({ events: [await said(body)], prev_batch: 'later' }),
  };
}

test('while history of one room is fetched from a slow server, everything else goes on, and that room keeps its order', async () => {
  const { id, says: saying } = await gapWith('yan');
  await workGoesOn();
  await world.deliver(await saying('5'));
  await world.deliver(await saying('6'));
  const sent = send(id, '7');
  await workGoesOn();
  assert.deepEqual(await world.bodies(id), ['1']);
  release();
  await sent;
  assert.deepEqual(await world.bodies(id), ['1', '2', '3', '4', '5', '6', '7']);
});

test('a room that leaves something out again and again comes on all the same, in its order', async () => {
  const { id, room, said } = await gapWith('yan');
  const pages = new Map<string, object[]>();
  for (const count of [5, 7, 9]) {
    const [missing, shown] = [await said(String(count)), await said(String(count + 1))];
    pages.set(`before ${count}`, [missing]);
    await world.deliver({
      rooms: { join: { [room]: { timeline: { events: [shown], limited: true, prev_batch: `before ${count}` } } } },
    });
  }
  history = (from) => pages.get(from) ?? null;
  release();
  await until('all', async () => (await world.bodies(id)).length === 10);
  assert.deepEqual(
    await world.bodies(id),
    Array.from({ length: 10 }, (_, place) => String(place + 1)),
  );
});

test('a bridge that ends while history is fetched fetches it again, and what came meanwhile is there once', async () => {
  const { id, says: saying } = await gapWith('yan');
  await world.deliver(await saying('5'));
  await world.restart();
  await world.deliver(await saying('6'));
  release();
  await until('all', async () => (await world.bodies(id)).length === 6);
  assert.deepEqual(await world.bodies(id), ['1', '2', '3', '4', '5', '6']);
});

test('history that is missing while a homeserver is away is asked for until it is there again', async () => {
  const { homeserver } = world;
  const refusing = homeserver.instead(/\/messages$/, () => new Raw(502, '<html>'));
  const away = homeserver.instead(/^\/account\/whoami$/, () => new Raw(502, '<html>'));
  const { id } = await gapWith('yan');
  release();
  const asked = () => callsTo('/account/whoami').length;
  const before = asked();
  await until('several tries', () => asked() >= before + 1);
  refusing();
  away();
  await until('all', async () => (await world.bodies(id)).length === 4);
  assert.deepEqual(await world.bodies(id), ['1', '2', '3', '4']);
});

test('an address at a slow server is looked up beside everything else', async () => {
  const { homeserver, ada } = world;
  homeserver.instead(/^\/profile\/@nobody/, async () => {
    await slow;
    return new Raw(404, '{"errcode":"M_NOT_FOUND","error":"nobody"}');
  });
  const resolved = ada.ask('resolve', { address: '@nobody:slow.test' });
  await until('the look-up', () => callsTo('/profile/@nobody:slow.test').length === 1);
  await workGoesOn();
  release();
  assert.equal((await resolved).contact, null);
});

test('look-ups at slow servers by many accounts leave a connection to everybody else', async () => {
  const { homeserver } = world;
  homeserver.instead(/^\/profile\/@nobody/, () => slow.then(() => ({})));
  const people = Array.from({ length: 40 }, (_, count) => world.person(`p${count}`));
  const resolved = people.map((person) => person.ask('resolve', { address: '@nobody:slow.test' }));
  await until('all look-ups', () => callsTo('/profile/@nobody:slow.test').length === people.length);
  await workGoesOn();
  release();
  await Promise.all(resolved);
});

test('a bridge that ends while a server is slow refuses what waits for it', async () => {
  const { ada } = world;
  const id = await slowRequest('yan');
  const accepted = ada.ask('accept', { conversationId: id });
  await until('the join', () => callsTo('/join/!yan').length === 1);
  const closed = world.bridge.close();
  await assert.rejects(accepted, failsWith('unavailable'));
  await closed;
});
