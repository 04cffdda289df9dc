// The example Chat Room on a whole platform, by npm's `ws`: what is written reaches everybody, and everything that a stranger
// may be a nuisance with has an end. tests/browser/chat-room.test.ts has the pages.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { WebSocket } from 'ws';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { ingressVariables, publicUrlOf } from '../support/public-address.ts';
import { rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const APP = 'chat-room';
const GRANTS = [{ id: 'endpoints.public', resources: ['GET:/', 'GET:/page/*', 'WS:/room'] }];

interface RoomEvent {
  readonly joined?: string;
  readonly messages?: readonly { readonly text: string }[];
  readonly message?: { readonly id: string; readonly name: string; readonly text: string };
  readonly deleted?: string;
  readonly people?: readonly string[];
  readonly refused?: string;
}

interface Room {
  readonly isOpen: boolean;
  readonly messages: readonly { readonly id: string; readonly text: string }[];
  readonly people: readonly { readonly id: string; readonly name: string }[];
}

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
/** As the page of the owner asks it. */
let ask: AskBackend;
let address: URL;

before(async () => {
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process', ...(await ingressVariables()) });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'host');
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: GRANTS } });
  address = await publicUrlOf(account, APP);
  ask = await openBackend(place, account, APP);
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

interface Guest {
  readonly events: readonly RoomEvent[];
  /** Its code, once it is closed; the status of a handshake that was refused. */
  ended(): Promise<number>;
  send(data: string | Buffer): void;
  say(text: string): void;
  find<Found>(what: string, find: (event: RoomEvent) => Found | undefined): Promise<Found>;
  leave(): Promise<number>;
}

interface Handshake {
  readonly origin?: string;
  readonly path?: string;
}

function connect({ origin, path = '/room' }: Handshake = {}): Guest {
  const url = new URL(path, address);
  // The system's resolver may not know that names below .localhost are this machine.
  url.hostname = '127.0.0.1';
  url.protocol = 'ws:';
  const options = { headers: { host: address.host }, ...(origin === undefined ? {} : { origin }) };
  const socket = new WebSocket(url, options);
  const events: RoomEvent[] = [];
  const { promise, resolve } = Promise.withResolvers<number>();
  const early: (string | Buffer)[] = [];
  socket.on('open', () => {
    for (const data of early) socket.send(data);
  });
  socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString())));
  socket.on('close', (code: number) => resolve(code));
  socket.on('unexpected-response', (_request: unknown, response: { statusCode: number; destroy(): void }) => {
    resolve(response.statusCode);
    response.destroy();
  });
  socket.on('error', () => undefined);
  const send = (data: string | Buffer) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
    else early.push(data);
  };
  return {
    events,
    ended: () => promise,
    send,
    say: (text) => send(JSON.stringify({ text })),
    find: (what, find) => until(what, () => events.map(find).find((found) => found !== undefined)),
    leave() {
      socket.close();
      return promise;
    },
  };
}

async function join(name: string): Promise<Guest> {
  const guest = connect();
  guest.send(JSON.stringify({ name }));
  await guest.find(`${name} to be in`, ({ joined }) => joined);
  return guest;
}

const texts = ({ events }: Guest) => events.flatMap(({ message }) => (message === undefined ? [] : [message.text]));
const room = async (change?: object) => (await ask('/moderate', change)).json as Room;

test('everybody reads what one writes, and who joins later reads it too', async () => {
  const [ada, ben] = [await join('Ada'), await join('Ben')];
  await ada.find('Ben to be announced', ({ people }) => people?.includes('Ben') || undefined);
  ada.say('Hello <b>all</b> 👋');
  for (const guest of [ada, ben]) await guest.find('the message', ({ message }) => message);
  assert.deepEqual(texts(ben), ['Hello <b>all</b> 👋']);
  const cem = await join('Cem');
  assert.deepEqual(cem.events[0]?.messages?.at(-1)?.text, 'Hello <b>all</b> 👋');
  await Promise.all([ada, ben, cem].map((guest) => guest.leave()));
  await until('nobody to be in the room', async () => (await room()).people.length === 0);
});

test('a name is one of a person who is here, and readable', async () => {
  const ada = await join('Ada');
  for (const name of [
    'ada',
    ' Ada ',
    'Ａda',
    '',
    ' ',
    'x'.repeat(21),
    '<b>',
    'a\u0000b',
    '\u202eevil',
    7,
    null,
    ['Ada'],
  ]) {
    const guest = connect();
    guest.send(JSON.stringify({ name }));
    assert.match(await guest.find(`${name} to be refused`, ({ refused }) => refused), /^Choose a name/);
    await guest.leave();
  }
  await ada.leave();
});

test('what is no message is refused, and a flood of messages too', async () => {
  const guest = await join('Flooder');
  for (const data of ['', '{', '[]', '1', 'null', '{"text":""}', '{"text":7}', Buffer.of(1, 2, 3)]) guest.send(data);
  guest.say('x'.repeat(501));
  await until('nine refusals', () => guest.events.filter(({ refused }) => refused !== undefined).length === 9);
  await guest.leave();
  const other = await join('Other');
  for (let count = 0; count < 20; count += 1) other.say(`number ${count}`);
  await until('an answer to each', () => texts(other).length + refusals(other).length === 20);
  assert.ok(texts(other).length >= 5 && texts(other).length <= 7, `${texts(other).length} passed`);
  assert.match(refusals(other)[0] ?? '', /a lot at once/);
  await other.leave();
});

const refusals = ({ events }: Guest) => events.flatMap(({ refused }) => refused ?? []);

test('a message that is too large ends the connection', async () => {
  const guest = await join('Giant');
  guest.send(JSON.stringify({ text: 'x'.repeat(5_000) }));
  assert.equal(await guest.ended(), 1009);
});

test('one address has five connections, and a page of another site has none', async () => {
  const guests = await Promise.all(Array.from({ length: 5 }, (_, index) => join(`Guest ${index}`)));
  assert.equal(await connect().ended(), 429);
  await Promise.all(guests.map((guest) => guest.leave()));
  await until('all to be gone', async () => (await room()).people.length === 0);
  for (const origin of ['https://evil.example', 'null', `https://${address.hostname}.evil.example`])
    assert.equal(await connect({ origin }).ended(), 403, origin);
  const own = connect({ origin: address.origin });
  own.send(JSON.stringify({ name: 'Own page' }));
  await own.find('to be in', ({ joined }) => joined);
  await own.leave();
});

test('nothing but the page and the room can be reached', async () => {
  const ask = (method: string, path: string) =>
    rawRequest({ port: Number(address.port), method, path, headers: { host: address.host }, body: '' });
  assert.equal((await ask('GET', '/')).status, 200);
  assert.match(String((await ask('GET', '/')).headers['content-security-policy']), /^default-src 'none'/);
  assert.equal((await ask('GET', '/page/room.js')).status, 200);
  for (const [method, path] of [
    ['GET', '/moderate'],
    ['POST', '/moderate'],
    ['GET', '/page/server.mjs'],
    ['POST', '/'],
    ['GET', '/room'],
  ] as const)
    assert.equal((await ask(method, path)).status, 404, `${method} ${path}`);
  assert.equal(await connect({ path: '/moderate' }).ended(), 404);
});

test('its owner deletes a message, closes and opens the room, and removes a person', async () => {
  const [ada, ben] = [await join('Ada'), await join('Ben')];
  ben.say('unfit');
  const { id } = await ada.find('the message', ({ message }) => message);
  await room({ deleteMessage: id });
  assert.equal(await ada.find('to be told', ({ deleted }) => deleted), id);
  assert.ok((await room()).messages.every(({ text }) => text !== 'unfit'));

  assert.equal((await room({ isOpen: false })).isOpen, false);
  assert.deepEqual(await Promise.all([ada.ended(), ben.ended()]), [4001, 4001]);
  assert.equal(await connect().ended(), 503);
  await room({ isOpen: true });

  const cem = await join('Cem');
  const [person] = (await room()).people;
  await room({ removePerson: person?.id });
  assert.equal(await cem.ended(), 4003);
  assert.equal(await connect().ended(), 403, 'also not under another name');
});

test('the history outlives a restart, and has an end', async () => {
  await account.browser.take(`/v1/apps/${APP}/stop`, { body: {} });
  await account.browser.take(`/v1/apps/${APP}/start`, { body: {} });
  const guest = await join('Late');
  const before = guest.events[0]?.messages ?? [];
  assert.equal(before[0]?.text, 'Hello <b>all</b> 👋');
  assert.ok(before.length <= 100);
  await guest.leave();
});

test('a revoked route closes what is open, before the request is answered', async () => {
  const guest = await join('Last');
  const permissions = [{ id: 'endpoints.public', resources: ['GET:/', 'GET:/page/*'] }];
  await account.browser.take(`/v1/apps/${APP}/permissions`, { method: 'PUT', body: { permissions } });
  assert.equal(await guest.ended(), 1006);
  assert.equal(await connect().ended(), 404);
});
