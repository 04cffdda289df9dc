// A crowd of new connections does not keep one more waiting for as many turns of the event loop.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { opened, statuses } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { listenFast, placeToListen } from './listen-fast.ts';
import { createStrictServer } from './server.ts';

const CROWD = 320;

/** Turns of the event loop in which a server accepts a crowd. */
async function turnsFor(server: Server): Promise<number> {
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const sockets: Socket[] = [];
  for (let count = 0; count < CROWD; count += 1)
    sockets.push(connect(portOf(server), '127.0.0.1').on('error', () => undefined));
  let turns = 0;
  while (accepted < CROWD) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  for (const socket of sockets) socket.destroy();
  return turns;
}

async function listening(limits = {}): Promise<{ server: Server; close: () => void }> {
  const server = createStrictServer({
    isOwnHost: () => true,
    onRequest: ({ res }) => void res.end(),
    onFault: assert.fail,
    limits,
  });
  server.listen(await placeToListen({ host: '127.0.0.1', port: 0 }));
  await once(server, 'listening');
  const sockets = await listenFast(server);
  return {
    server,
    close() {
      sockets.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

test('many connections are accepted in one turn', async () => {
  const plain = await turnsFor(await opened({ isOwnHost: () => true, onRequest: () => null }));
  const { server, close } = await listening();
  const turns = await turnsFor(server);
  assert.ok(plain >= CROWD, `${plain} turns without`);
  assert.ok(turns <= plain / 4, `${turns} turns instead of ${plain}`);
  close();
});

test('connections of all sockets are served, and counted together', async () => {
  const { server, close } = await listening({ connections: 40 });
  const connections = await Promise.all(
    Array.from({ length: 40 }, () => openRaw(portOf(server), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')),
  );
  for (const connection of connections) await connection.until(() => connection.answers().length === 1);
  assert.deepEqual([...new Set(connections.flatMap(statuses))], [200]);
  const more = await openRaw(portOf(server), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await more.closed();
  assert.deepEqual(statuses(more), []);
  for (const { socket } of connections) socket.destroy();
  close();
});

test('none is accepted after the end', async () => {
  const { server, close } = await listening();
  const port = portOf(server);
  close();
  const late = connect(port, '127.0.0.1');
  const [error] = await once(late, 'error');
  assert.equal(error.code, 'ECONNREFUSED');
});

test('a port that a process of the same user listens on is taken', async () => {
  const { server, close } = await listening();
  await assert.rejects(placeToListen({ host: '127.0.0.1', port: portOf(server) }), { code: 'EADDRINUSE' });
  close();
});
