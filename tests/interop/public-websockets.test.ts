// WebSocket clients that others wrote, through the Ingress: compression, fragments, large messages, pings and close codes
// pass as in any proxy.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import WebSocket, { WebSocketServer } from 'ws';
import { HOSTNAME, startUnderTest, type UnderTest } from '../../packages/ingress/test-support/ingress-under-test.ts';
import { lacksPython, PYTHON } from '../support/swift-store.ts';

const run = promisify(execFile);
const lacksClients = lacksPython('websockets', 'python3-websockets') || lacksPython('autobahn', 'python3-autobahn');

let tested: UnderTest;
before(async () => {
  tested = await startUnderTest();
  const server = new WebSocketServer({ server: tested.node.server, perMessageDeflate: true });
  server.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => {
      const [, code] = isBinary ? [] : (/^close (\d+)$/.exec(String(data)) ?? []);
      if (code === undefined) socket.send(data, { binary: isBinary });
      else socket.close(Number(code));
    }),
  );
});
after(() => tested.close());

test('websockets and Autobahn of Python', { skip: lacksClients }, async () => {
  const script = new URL('./public-websockets-clients.py', import.meta.url).pathname;
  const { stdout } = await run(PYTHON, [script, HOSTNAME, String(tested.port)]);
  assert.equal(stdout, 'done\n');
});

test('ws of npm, with compression', async () => {
  const client = new WebSocket(`ws://127.0.0.1:${tested.port}/chat`, { headers: { host: HOSTNAME } });
  await once(client, 'open');
  assert.match(client.extensions, /permessage-deflate/);
  const text = 'a line that compresses well\n'.repeat(40_000);
  client.send(text);
  const [echo] = (await once(client, 'message')) as [Buffer];
  assert.equal(echo.toString(), text);
  client.ping();
  await once(client, 'pong');
  client.send('close 4003');
  const [code] = (await once(client, 'close')) as [number];
  assert.equal(code, 4003);
});
