// What every answer of a node's listener carries.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { IncomingRequest } from '@platform/http';
import { type RawAnswer, rawRequest } from '../../../../tests/support/raw-http.ts';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import { startHttpServer } from './http-server.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function answerOf(strictTransport: boolean): Promise<RawAnswer> {
  const handle = ({ res }: IncomingRequest) => void res.end('here');
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    isOwnHost: () => true,
    strictTransport,
    handle,
    log,
  });
  try {
    return await rawRequest({ port: server.port, path: '/' });
  } finally {
    await server.close(0);
  }
}

test('a node on https asks for TLS for a year, one on plain http does not speak of it', async () => {
  assert.equal((await answerOf(true)).headers['strict-transport-security'], 'max-age=31536000');
  assert.equal((await answerOf(false)).headers['strict-transport-security'], undefined);
});

test('every answer has an id, and is taken for what it says', async () => {
  const { headers } = await answerOf(false);
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
});

test('CONNECT is refused with an id like any request, and ends the connection', async () => {
  let handled = 0;
  const server = await startHttpServer({
    host: '127.0.0.1',
    port: 0,
    isOwnHost: () => true,
    handle: () => {
      handled += 1;
    },
    log,
  });
  try {
    const head = 'CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n';
    const connection = await openRaw(server.port, head);
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 405 [\s\S]*"code":"method_not_allowed"/);
    assert.match(connection.received(), /^x-request-id: [0-9a-f-]{36}\r$/im);
    assert.equal(handled, 0);
  } finally {
    await server.close(0);
  }
});

test('a crowd of new connections is accepted in a few turns of the event loop', async () => {
  const crowd = 320;
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, isOwnHost: () => true, handle: () => {}, log });
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  subscribe('net.server.socket', count);
  const sockets = Array.from({ length: crowd }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
  let turns = 0;
  for (; accepted < crowd; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  unsubscribe('net.server.socket', count);
  for (const socket of sockets) socket.destroy();
  await server.close(0);
  assert.ok(turns <= crowd / 4, `${turns} turns for ${crowd} connections`);
});
