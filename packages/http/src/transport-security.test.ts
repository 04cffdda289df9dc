// On an https origin every answer says so, also those that are written without a response object; on others none does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { switching } from '../test-support/handshakes.ts';
import { opened } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { carryUpgrade } from './carry-upgrade.ts';
import { endWithProblem } from './problem.ts';

const upgrade = (path: string, version = '13'): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  `Sec-WebSocket-Version: ${version}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;
const tooLarge = (accept: string): string =>
  `GET / HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nCookie: ${'c'.repeat(20_000)}\r\n\r\n`;

const asked: Readonly<Record<string, { readonly bytes: string; readonly status: number }>> = {
  'a request': { bytes: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', status: 200 },
  'a method that is refused before anything': { bytes: 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n', status: 405 },
  'bytes that are no request': { bytes: '\u0000garbage\r\n\r\n', status: 400 },
  'a body that is malformed': {
    bytes: 'POST /held HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n',
    status: 400,
  },
  'a head that is too large, for a person': { bytes: tooLarge('text/html'), status: 431 },
  'a head that is too large, for a program': { bytes: tooLarge('*/*'), status: 431 },
  'a tunnel': { bytes: 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', status: 405 },
  'a faulty handshake': { bytes: upgrade('/', '7'), status: 400 },
  'a handshake that is refused': { bytes: upgrade('/refused'), status: 404 },
  'a handshake that the upstream declines': { bytes: upgrade('/declined'), status: 403 },
  'a handshake whose upstream fails': { bytes: upgrade('/failing'), status: 502 },
  'a handshake that is accepted': { bytes: upgrade('/accepted'), status: 101 },
};

const upstream = createServer((req, res) => {
  if (req.url === '/failing') req.socket.destroy();
  else res.writeHead(403).end();
});
upstream.on('upgrade', (req, socket: Socket) => {
  if (req.url === '/accepted') socket.end(switching(req));
  else if (req.url === '/declined') socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  else socket.destroy();
});
let pool: Pool;
before(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  pool = poolTo(portOf(upstream));
});
after(async () => {
  upstream.close();
  await pool.destroy();
});

async function serving(strictTransport: boolean): Promise<number> {
  const server = await opened({
    isOwnHost: () => true,
    browsers: true,
    strictTransport,
    onRequest: ({ path, req, res }) => {
      if (path === '/held') req.on('error', () => undefined).resume();
      else res.end();
      return null;
    },
    onUpgrade(incoming) {
      if (incoming.path === '/refused') endWithProblem(incoming.socket, { code: 'not_found' });
      else
        carryUpgrade(incoming, {
          upstream: upstreamOver(pool, incoming),
          idleMilliseconds: 10_000,
        });
    },
  });
  return portOf(server);
}

for (const [what, { bytes, status }] of Object.entries(asked)) {
  test(`on https, and not on plain http, TLS is demanded for a year in the answer to ${what}`, async () => {
    for (const strict of [true, false]) {
      const connection = await openRaw(await serving(strict), bytes);
      await connection.closed();
      const [head = ''] = connection.received().split('\r\n\r\n', 1);
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      const said = head.match(/^strict-transport-security: .*$/gim) ?? [];
      assert.deepEqual(said, strict ? ['strict-transport-security: max-age=31536000'] : [], head);
    }
  });
}
