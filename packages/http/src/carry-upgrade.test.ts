// What becomes of a handshake that the upstream does not accept, or keeps waiting: its answer passes at the pace of the
// caller, and a caller that leaves ends it. That a WebSocket passes: packages/gateway/src/inbound/websocket.test.ts.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { opened } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { carryUpgrade } from './carry-upgrade.ts';
import { acceptOf } from './web-socket.ts';

const HANDSHAKE = [
  ...['GET /ws HTTP/1.1', 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
].join('\r\n');

let upstream: Server;
let pool: Pool;
let port: number;
let answer: (res: ServerResponse) => void;

beforeEach(async () => {
  upstream = createServer((_req, res) => answer(res));
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  pool = poolTo(portOf(upstream));
  const server = await opened({
    isOwnHost: () => true,
    onRequest: () => assert.fail(),
    onUpgrade(incoming) {
      const to = upstreamOver(pool, incoming);
      carryUpgrade(incoming, { upstream: to, idleMilliseconds: 600_000 });
    },
  });
  port = portOf(server);
});

afterEach(async () => {
  await pool.destroy();
  upstream.close();
  upstream.closeAllConnections();
});

const ACCEPT = acceptOf('dGhlIHNhbXBsZSBub25jZQ==');
const OFFER = HANDSHAKE.replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: chat, sup.er\r\n\r\n');

async function answered(fields: readonly string[], sent = HANDSHAKE): Promise<string> {
  upstream.removeAllListeners('upgrade').on('upgrade', (_req, socket) => {
    socket.on('error', () => undefined);
    socket.write(['HTTP/1.1 101 Switching Protocols', ...fields, '', 'frames'].join('\r\n'));
  });
  const caller = await openRaw(port, sent);
  await caller.until(() => /frames|\}$/.test(caller.received()));
  caller.socket.destroy();
  return caller.received();
}

const IN_ORDER = ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${ACCEPT}`];

for (const [what, fields, sent] of [
  ['in order', IN_ORDER],
  ['in another case, beside others', ['connection: keep-alive, UPGRADE', 'UPGRADE: WebSocket', IN_ORDER[2]]],
  ['with a protocol that was offered', [...IN_ORDER, 'Sec-WebSocket-Protocol: sup.er'], OFFER],
] as const) {
  test(`a 101 ${what} switches`, async () => {
    const received = await answered(fields as readonly string[], sent);
    assert.match(received, /^HTTP\/1\.1 101 /);
    assert.match(received, /frames$/);
  });
}

for (const [what, fields, sent] of [
  ['without Sec-WebSocket-Accept', IN_ORDER.slice(0, 2)],
  ['with the key as Sec-WebSocket-Accept', [...IN_ORDER.slice(0, 2), 'Sec-WebSocket-Accept: dGhlIHNhbXBsZSBub25jZQ==']],
  ['for another key', [...IN_ORDER.slice(0, 2), `Sec-WebSocket-Accept: ${acceptOf('AAAAAAAAAAAAAAAAAAAAAA==')}`]],
  ['with another case of it', [...IN_ORDER.slice(0, 2), `Sec-WebSocket-Accept: ${ACCEPT.toUpperCase()}`]],
  ['with two of it', [...IN_ORDER, IN_ORDER[2] ?? '']],
  ['to another protocol', [IN_ORDER[0] ?? '', 'Upgrade: h2c', IN_ORDER[2] ?? '']],
  ['to another protocol as well', [IN_ORDER[0] ?? '', 'Upgrade: websocket, h2c', IN_ORDER[2] ?? '']],
  ['without Upgrade', [IN_ORDER[0] ?? '', IN_ORDER[2] ?? '']],
  ['without Connection', IN_ORDER.slice(1)],
  ['of another connection', ['Connection: keep-alive', ...IN_ORDER.slice(1)]],
  ['with a protocol that was not offered', [...IN_ORDER, 'Sec-WebSocket-Protocol: other'], OFFER],
  ['with a protocol where none was offered', [...IN_ORDER, 'Sec-WebSocket-Protocol: chat']],
  ['with two protocols', [...IN_ORDER, 'Sec-WebSocket-Protocol: chat, sup.er'], OFFER],
  ['with an extension where none was offered', [...IN_ORDER, 'Sec-WebSocket-Extensions: permessage-deflate']],
] as const) {
  test(`a 101 ${what} is none, and nothing of it passes`, async () => {
    const received = await answered(fields, sent);
    assert.match(received, /^HTTP\/1\.1 502 /);
    assert.doesNotMatch(received, /frames/);
  });
}

for (const protocol of ['a b', 'a;b', '"a"', 'a/b', '', ',', 'a\u00a0', 'a=b', '(a)', 'a, b c', '\u00e9']) {
  test(`a handshake that offers ${JSON.stringify(protocol)} is refused`, async () => {
    const head = HANDSHAKE.replace('\r\n\r\n', `\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`);
    const caller = await openRaw(port, Buffer.from(head, 'latin1'));
    await caller.closed();
    assert.match(caller.received(), /^HTTP\/1\.1 400 /);
  });
}

test('an answer of any length that declines a handshake arrives whole', async () => {
  const body = 'x'.repeat(8 * 1024 * 1024);
  answer = (res) => res.writeHead(403, { 'content-length': body.length }).end(body);
  const connection = await openRaw(port, HANDSHAKE);
  await connection.closed();
  const [declined] = connection.answers();
  assert.deepEqual([declined?.status, declined?.body.length], [403, body.length]);
});

for (const [what, begin] of Object.entries({
  'before the answer': () => undefined,
  'within an answer that has no end': (res: ServerResponse) => void res.writeHead(200).write('begun'),
})) {
  test(`a caller that leaves ${what} ends it at the upstream too`, async () => {
    const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answer = (res) => {
      res.once('close', left.resolve);
      begin(res);
      asked.resolve();
    };
    const connection = await openRaw(port, HANDSHAKE);
    await asked.promise;
    if (what !== 'before the answer') await connection.until(() => connection.received().includes('begun'));
    connection.halfClose();
    await Promise.all([left.promise, connection.closed()]);
  });
}

test('a caller that sends on and on without having been answered is not listened to for long', async () => {
  answer = () => undefined;
  const connection = await openRaw(port, HANDSHAKE);
  for (let sent = 0; sent < 64 && !connection.isClosed(); sent += 1) {
    connection.socket.write(Buffer.alloc(16 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await connection.closed();
  assert.equal(connection.received(), '');
});
