// Who may connect, and how often: a key that is known gets through whatever others do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { until } from '../../../tests/support/wait.ts';
import {
  type AcceptOptions,
  acceptLinks,
  fetchOverLink,
  keyFromSeed,
  type LinkCertificate,
  type LinkKey,
  type LinkListener,
  linkCertificate,
  linkPeer,
} from './link.ts';

const ours = keyFromSeed(Buffer.alloc(32, 1));
const [known, stranger, second] = [2, 3, 4].map((seed) => keyFromSeed(Buffer.alloc(32, seed))) as [
  LinkKey,
  LinkKey,
  LinkKey,
];
const certificates = new Map<LinkKey, LinkCertificate>();
const closing: (() => Promise<void>)[] = [];

before(async () => {
  for (const key of [known, stranger, second]) certificates.set(key, await linkCertificate(key));
});
after(async () => {
  for (const close of closing) await close();
});

/** A listener that answers each request with whether the peer is known. */
async function listen(options: Partial<AcceptOptions> = {}): Promise<LinkListener> {
  const server = http.createServer((request, response) => response.end(String(linkPeer(request.socket)?.known)));
  const isKnown = (key: Buffer) => key.equals(known.publicKey) || key.equals(second.publicKey);
  const listener = await acceptLinks(server, { key: ours, host: '0.0.0.0', port: 0, isKnown, ...options });
  closing.push(async () => {
    server.closeAllConnections();
    await listener.close();
  });
  return listener;
}

async function ask(port: number, key: LinkKey | null): Promise<string> {
  const certificate = key === null ? undefined : certificates.get(key);
  const signal = AbortSignal.timeout(20_000);
  const options = { key: ours.publicKey, certificate, method: 'GET', headers: {}, signal };
  return (await fetchOverLink(`https://127.0.0.1:${port}/`, options)).text();
}

/** A connection that has proven a key and says nothing, from an address of this machine. */
async function hold(port: number, key: LinkKey, localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const tcp = connectPlain({ port, host: '127.0.0.1', localAddress });
  const socket = connect({ socket: tcp, rejectUnauthorized: false, ...certificates.get(key) });
  socket.on('error', () => undefined);
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
  return socket.resume();
}

async function ended(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

test('a known key is served; another one, or none, is closed without a word', async () => {
  const { port } = await listen();
  assert.equal(await ask(port, known), 'true');
  for (const key of [stranger, null]) {
    const cert = key === null ? {} : certificates.get(key);
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...cert });
    const said: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => said.push(chunk)).on('error', () => undefined);
    socket.on('secureConnect', () => socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
    await once(socket, 'close');
    assert.equal(Buffer.concat(said).toString(), '');
  }
});

test('where strangers are served, the server can distinguish them; a client without a key is refused', async () => {
  const { port } = await listen({ strangers: 'served' });
  assert.equal(await ask(port, known), 'true');
  assert.equal(await ask(port, stranger), 'false');
  await assert.rejects(ask(port, null));
});

test('a key that cannot be looked up ends the connection', async () => {
  const { port } = await listen({ strangers: 'served', isKnown: () => Promise.reject(new Error('no database')) });
  await assert.rejects(ask(port, known));
});

test('10,000 connections from one peer do not keep a known key from connecting, from the same address or another', async () => {
  const { port } = await listen({ strangers: 'served' });
  const flood: Socket[] = [];
  let closed = 0;
  for (let count = 0; count < 10_000; count += 100) {
    const batch = Array.from({ length: 100 }, () => connectPlain({ port, host: '127.0.0.1' }));
    for (const socket of batch) socket.on('error', () => undefined).on('close', () => (closed += 1));
    await Promise.all(batch.map((socket) => once(socket, 'connect').catch(() => undefined)));
    flood.push(...batch.map((socket) => socket.resume()));
  }
  assert.equal(await ask(port, known), 'true');
  const elsewhere = await hold(port, known, '127.0.0.2');
  assert.equal(elsewhere.destroyed, false);
  await until('the strangers cut off', () => closed >= flood.length - 64);
  // Those that are left are the newest.
  assert.ok(flood.slice(0, -100).every(({ destroyed }) => destroyed));
  elsewhere.destroy();
  for (const socket of flood) socket.destroy();
});

test('a known key has its share of connections, and what it takes leaves others theirs', async () => {
  const { port } = await listen({ limits: { ofKey: 3, strangersOfAddress: 2 } });
  const held = [await hold(port, known), await hold(port, known), await hold(port, known)];
  const fourth = await hold(port, known);
  await ended(fourth);
  assert.equal(await ask(port, second), 'true');
  held.pop()?.destroy();
  // The server notices the end some time later.
  while ((await ask(port, known).catch(() => '')) !== 'true') await new Promise((resolve) => setImmediate(resolve));
  for (const socket of held) assert.equal(socket.destroyed, false);
  for (const socket of held) socket.destroy();
});

test('strangers of all addresses together are bounded, and none stays for long', async () => {
  const { port } = await listen({ strangers: 'served', limits: { strangers: 2, strangerMilliseconds: 300 } });
  // On a busy machine the time of one may be over before its handshake is.
  const stay = (address: string) =>
    hold(port, stranger, address).then(ended, (error: NodeJS.ErrnoException) => assert.equal(error.code, 'ECONNRESET'));
  await Promise.all(['127.0.0.1', '127.0.0.2', '127.0.0.3'].map(stay));
});

test('the connections of a key that is not known any more end, and those of others go on', async () => {
  const gone = new Set<string>();
  const { port, recheck } = await listen({ isKnown: (key) => !gone.has(key.toString('hex')) });
  const [one, other] = [await hold(port, known), await hold(port, second)];
  assert.equal(await ask(port, known), 'true');
  gone.add(known.publicKey.toString('hex'));
  await recheck();
  await ended(one);
  assert.equal(other.destroyed, false);
  await assert.rejects(ask(port, known));
  other.destroy();
});

test('a part whose key is not known yet stays connected while others come and go', async () => {
  const gone = new Set<string>();
  const { port, recheck } = await listen({
    strangers: 'served',
    isKnown: (key) => key.equals(known.publicKey) && !gone.has('known'),
  });
  const joining = await hold(port, stranger);
  const leaving = await hold(port, known);
  assert.deepEqual([await ask(port, known), await ask(port, stranger)], ['true', 'false']);
  gone.add('known');
  await recheck();
  await ended(leaving);
  assert.equal(joining.destroyed, false);
  joining.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await ended(joining);
});
