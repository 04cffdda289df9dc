// The way to a node on another machine: TLS under the node's key, which proves the Ingress as well, one connection for
// requests of many public names, and no request for who holds another key.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { acceptLinks, keyFromSeed, type LinkListener, linkPeer, publicKeyText } from '@platform/link';
import { handshake, switching } from '../../http/test-support/handshakes.ts';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import {
  HOSTNAME,
  key as ingressKey,
  OTHER,
  ROUTES,
  routeOf,
  startUnderTest,
  type UnderTest,
} from '../test-support/ingress-under-test.ts';

const nodeKey = keyFromSeed(Buffer.alloc(32, 3));
const otherKey = keyFromSeed(Buffer.alloc(32, 4));

let tested: UnderTest | undefined;
let remote: { readonly server: Server; readonly link: LinkListener; readonly sockets: Set<Socket> } | undefined;

afterEach(async () => {
  await tested?.close();
  await remote?.link.close();
  remote?.server.closeAllConnections();
  [tested, remote] = [undefined, undefined];
});

/** A node on another machine, whose key the topology gives as `told`. */
async function start(told = nodeKey): Promise<UnderTest> {
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => {
    const peer = linkPeer(req.socket);
    res.end(`${req.headers.host} ${peer === undefined ? '' : publicKeyText(peer.key)}`);
  });
  server.on('connection', (socket) => void sockets.add(socket));
  server.on('upgrade', (req, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write(switching(req));
    socket.pipe(socket);
  });
  const link = await acceptLinks(server, {
    key: nodeKey,
    host: '127.0.0.1',
    port: 0,
    isKnown: (key) => key.equals(ingressKey.publicKey),
  });
  remote = { server, link, sockets };
  tested = await startUnderTest({
    lines: (node) => [
      {
        kind: 'nodes',
        items: [{ ...node, url: `https://127.0.0.1:${link.port}`, key: publicKeyText(told.publicKey) }],
        gone: [],
      },
      { kind: 'routes', items: [routeOf(ROUTES), routeOf(ROUTES, { hostname: OTHER })], gone: [] },
    ],
  });
  return tested;
}

async function ask(port: number, host: string): Promise<{ status: number; body: string }> {
  const connection = await openRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  await connection.closed();
  return connection.answers()[0] ?? assert.fail(connection.received());
}

test('requests of several names share a connection, on which the Ingress has proven its key', async () => {
  const { port } = await start();
  const proven = publicKeyText(ingressKey.publicKey);
  for (const host of [HOSTNAME, OTHER, HOSTNAME]) assert.equal((await ask(port, host)).body, `${host} ${proven}`);
  assert.equal(remote?.sockets.size, 1);
});

test('a WebSocket passes over it', async () => {
  const { port } = await start();
  const head = ['GET /chat HTTP/1.1', ...handshake({ Host: HOSTNAME })];
  const connection = await openRaw(port, `${head.join('\r\n')}\r\n\r\nsome bytes`);
  await connection.until(() => connection.received().endsWith('some bytes'));
  connection.socket.destroy();
});

test('who holds another key than the node gets no request', async () => {
  const { port } = await start(otherKey);
  const { status, body } = await ask(port, HOSTNAME);
  assert.deepEqual([status, (JSON.parse(body) as { code: string }).code], [503, 'workload_unavailable']);
});
