// The example UDP Echo on a whole platform, with its own client and with hostile ones: nothing is answered without the key,
// nothing twice, and the port and the key are the same after a restart.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import dgram from 'node:dgram';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { PublicPortStatus, WorkloadDetail } from '@platform/contract';
import { type AskBackend, openBackend } from '../support/backend.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { freeUdpPort } from '../support/free-port.ts';
import { type PlatformPlace, type PlatformProcess, platformPlace, startPlatform } from '../support/platform-process.ts';
import { until } from '../support/wait.ts';

const APP = 'udp-echo';
const EXAMPLE = new URL(`../../examples/${APP}/`, import.meta.url);
const CLIENT = fileURLToPath(new URL('client.mjs', EXAMPLE));
const GRANTS = [{ id: 'endpoints.public.udp', resources: ['UDP:auto'] }];
/** The protocol of the example, with which this test writes datagrams of its own. */
const protocol = await import(new URL('workload/protocol.mjs', EXAMPLE).href);

let place: PlatformPlace;
let platform: PlatformProcess;
let account: TestAccount;
let ask: AskBackend;
let port: PublicPortStatus;
let key: Buffer;

before(async () => {
  const free = await freeUdpPort();
  place = await platformPlace({ PLATFORM_RUNTIME_DRIVER: 'process', PLATFORM_UDP_PORT_RANGE: `${free}-${free}` });
  platform = await startPlatform(place);
  account = await registerAccount(platform, 'sender');
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: GRANTS } });
  ask = await openBackend(place, account, APP);
  port = await openPort();
  key = Buffer.from(await shownKey(), 'base64url');
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

/** Once it is open. */
function openPort(): Promise<PublicPortStatus> {
  return until('the port to be open', async () => {
    const { publicPorts } = await account.browser.take<WorkloadDetail>(`/v1/apps/${APP}/status`);
    return publicPorts?.find(({ closed }) => closed === undefined);
  });
}

async function shownKey(): Promise<string> {
  return ((await ask('/')).json as { key: string }).key;
}

function client(givenKey: string, ...texts: string[]): Promise<{ stdout: string; code: number; stderr: string }> {
  const run = promisify(execFile)(process.execPath, [CLIENT, `${port.host}:${port.hostPort}`, givenKey, ...texts]);
  return run.then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    ({ stdout, stderr, code }) => ({ stdout, stderr, code }),
  );
}

interface Sender {
  /** Everything that came back so far. */
  readonly answers: readonly Buffer[];
  send(datagram: Buffer): void;
  /** Greets until it is welcome. */
  greet(session?: Buffer): Promise<Session>;
}

interface Session {
  request(counter: bigint, text?: string): Buffer;
  readAnswer(datagram: Buffer): string | undefined;
}

async function openSender(t: { after(work: () => void): void }): Promise<Sender> {
  const socket = dgram.createSocket('udp4');
  t.after(() => socket.close());
  const answers: Buffer[] = [];
  socket.on('message', (datagram) => answers.push(datagram));
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.connect(port.hostPort, port.host, () => resolve()));
  return {
    answers,
    send: (datagram) => socket.send(datagram),
    async greet(session = randomBytes(protocol.SESSION_BYTES)) {
      const greeting = greetingOf(session, key);
      const welcome = await until('a welcome', () => {
        const found = answers.find((one) => one[0] === protocol.WELCOME && one.subarray(1, 17).equals(session));
        if (found === undefined) socket.send(greeting);
        return found;
      });
      assert.ok(welcome.length <= greeting.length, 'no amplification');
      const { toServer, toClient } = protocol.sessionKeys(key, session, welcome.subarray(17, 33));
      return {
        request: (counter, text = 'hello') =>
          protocol.seal(protocol.REQUEST, { session, key: toServer, counter, payload: Buffer.from(text) }),
        readAnswer: (datagram) => protocol.unseal(datagram, toClient)?.payload.toString(),
      };
    },
  };
}

function greetingOf(session: Buffer, withKey: Buffer): Buffer {
  const start = Buffer.concat([Buffer.of(protocol.GREETING), session]);
  return Buffer.concat([start, protocol.proofOf(withKey, start, 32)]);
}

/** What came back to requests, until one with this text did: what was sent before it on the same way is decided by then. */
async function answersUntil({ answers }: Sender, session: Session, last: string): Promise<string[]> {
  const read = () =>
    answers.filter((one) => one[0] === protocol.ANSWER).map((one) => session.readAnswer(one) ?? 'not readable');
  await until(`the answer ${last}`, () => read().includes(last));
  return read();
}

test('its client gets back what it sends, also letters of every language, and nothing with another key', async () => {
  const sent = ['hello', 'grüße', '你好', 'x'.repeat(1_000)];
  const { stdout, code } = await client(key.toString('base64url'), ...sent);
  assert.deepEqual([stdout.trim().split('\n'), code], [sent, 0]);
  const stranger = await client(randomBytes(32).toString('base64url'));
  assert.deepEqual([stranger.stdout, stranger.code], ['', 1]);
  assert.match(stranger.stderr, /does not answer\. Is the key right/);
  assert.equal((await client('short')).code, 2);
});

test('what is not proven gets no answer, whatever it looks like', async (t) => {
  const sender = await openSender(t);
  const session = await sender.greet();
  const welcomes = sender.answers.length;
  const genuine: Buffer = session.request(1n);
  const bent = (at: number) => {
    const copy = Buffer.from(genuine);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const hostile = [
    Buffer.alloc(0),
    Buffer.of(protocol.GREETING),
    Buffer.of(protocol.REQUEST),
    randomBytes(protocol.GREETING_BYTES),
    greetingOf(randomBytes(16), randomBytes(32)),
    greetingOf(randomBytes(16), key).subarray(0, -1),
    Buffer.concat([greetingOf(randomBytes(16), key), Buffer.of(0)]),
    // Type, session, counter, payload and tag.
    ...[0, 1, 24, 27, genuine.length - 1].map(bent),
    genuine.subarray(0, 40),
    Buffer.concat([genuine, Buffer.alloc(2_000)]),
  ];
  for (const datagram of hostile) sender.send(datagram);
  sender.send(session.request(2n, 'last'));
  assert.deepEqual(await answersUntil(sender, session, 'last'), ['last']);
  assert.equal(sender.answers.length, welcomes + 1);
});

test('each request counts once, in any order within the window; no answer is longer than its request', async (t) => {
  const sender = await openSender(t);
  const session = await sender.greet();
  for (const counter of [1n, 1n, 5n, 3n, 5n, 100n, 37n, 36n, 35n, 100n, 2n ** 63n, 2n ** 63n - 70n])
    sender.send(session.request(counter, `number ${counter}`));
  sender.send(session.request(2n ** 63n + 1n, 'last'));
  assert.deepEqual(await answersUntil(sender, session, 'last'), [
    'number 1',
    'number 5',
    'number 3',
    'number 100',
    'number 37',
    `number ${2n ** 63n}`,
    'last',
  ]);
  const longest = Math.max(...sender.answers.map(({ length }) => length));
  assert.ok(longest <= session.request(1n, `number ${2n ** 63n}`).length);
});

test('a flood of greetings leaves a session that is in use alone', async (t) => {
  const sender = await openSender(t);
  const session = await sender.greet();
  sender.send(session.request(1n, 'before'));
  await answersUntil(sender, session, 'before');
  const flood = await openSender(t);
  for (let count = 0; count < 600; count += 1) flood.send(greetingOf(randomBytes(16), key));
  await flood.greet();
  sender.send(session.request(2n, 'after'));
  assert.deepEqual(await answersUntil(sender, session, 'after'), ['before', 'after']);
  const { sessions } = (await ask('/')).json as { sessions: number };
  assert.ok(sessions <= 256, `${sessions} sessions`);
});

test('after a restart the port and the key are the same, and what was recorded before is worth nothing', async (t) => {
  const sender = await openSender(t);
  const [id, other] = [randomBytes(16), randomBytes(16)];
  const session = await sender.greet(id);
  const recorded = session.request(1n, 'recorded');
  await account.browser.take(`/v1/apps/${APP}/stop`, { body: {} });
  const resting = await account.browser.take<WorkloadDetail>(`/v1/apps/${APP}/status`);
  assert.deepEqual(resting.publicPorts, [{ ...port, closed: 'It opens when the backend runs.' }]);
  await account.browser.take(`/v1/apps/${APP}/start`, { body: {} });
  assert.deepEqual(await openPort(), port);
  assert.equal(await shownKey(), key.toString('base64url'));
  const later = await openSender(t);
  const fresh = await later.greet(other);
  later.send(recorded);
  // Also after the greeting that opened that session.
  later.send(greetingOf(id, key));
  later.send(recorded);
  later.send(fresh.request(1n, 'last'));
  assert.deepEqual(await answersUntil(later, fresh, 'last'), ['last']);
});

test('removed and installed again it has its port and its key; without its volume another key', async () => {
  const again = async () => {
    await account.browser.take('/v1/apps', { body: { appId: APP, permissions: GRANTS } });
    ask = await openBackend(place, account, APP);
    const opened = await openPort();
    return [opened.hostPort, await shownKey()];
  };
  const known = [port.hostPort, key.toString('base64url')];
  await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
  assert.deepEqual(await again(), known);
  assert.equal((await client(known[1] as string, 'still here')).stdout, 'still here\n');
  await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
  const deleted = await account.fetch(`/v1/account/volumes/${APP}`, { method: 'DELETE' });
  assert.equal(deleted.status, 204, deleted.text);
  const [, newKey] = await again();
  assert.notEqual(newKey, known[1]);
  key = Buffer.from(String(newKey), 'base64url');
});

test('revoked, it is silent at once; its owner reads that nothing is published', async (t) => {
  const sender = await openSender(t);
  const session = await sender.greet();
  await account.browser.take(`/v1/apps/${APP}/permissions`, { method: 'PUT', body: { permissions: [] } });
  const before = sender.answers.length;
  for (let counter = 1n; counter < 20n; counter += 1n) sender.send(session.request(counter));
  assert.equal(((await ask('/')).json as { key: string }).key, key.toString('base64url'));
  assert.equal(sender.answers.length, before);
});
