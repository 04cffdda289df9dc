// WebSockets to a workload: the handshake passes without the caller's credentials, then bytes pass both ways as they are,
// and an end on either side, or of the Gateway, ends both.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import { type GatewayUnderTest, startGatewayUnderTest, until } from '../../test-support/gateway-under-test.ts';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
/** RFC 6455 section 1.3 gives this for the key above. */
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

let tested: GatewayUnderTest;
let workload: Server;
let handshake: IncomingMessage | undefined;
let backend: Socket | undefined;

beforeEach(async () => {
  tested = await startGatewayUnderTest('http://127.0.0.1:9');
  handshake = undefined;
  backend = undefined;
  workload = createServer((_req, res) => res.writeHead(403, { 'set-cookie': 'a=b' }).end('no'));
  workload.on('upgrade', (req: IncomingMessage, socket: Socket) => {
    handshake = req;
    backend = socket;
    const accept = createHash('sha1')
      .update(`${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\nSet-Cookie: a=b\r\nX-Other: 1\r\n\r\nwelcome`,
    );
  });
  workload.listen(tested.socketPath);
  await once(workload, 'listening');
});

afterEach(async () => {
  await tested.close();
  backend?.destroy();
  workload.close();
  workload.closeAllConnections();
});

function ask(more = ''): Promise<RawConnection> {
  const fields = [
    ...['Host: node.test', 'Connection: keep-alive, Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ...[`Sec-WebSocket-Key: ${KEY}`, 'Cookie: s=1', 'Authorization: Bearer pdc_x', 'X-Forwarded-For: 1.2.3.4'],
  ];
  return openRaw(tested.inboundPort, `GET /chat?room=1 HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${more}`);
}

test('a WebSocket passes bytes both ways, those sent with the handshake included', async () => {
  const connection = await ask('hello');
  await connection.until(() => connection.received().endsWith('welcome'));
  const head = connection.received();
  assert.match(head, /^HTTP\/1\.1 101 /);
  assert.ok(head.includes(`sec-websocket-accept: ${ACCEPT}`), head);
  assert.doesNotMatch(head, /set-cookie|x-other/i);
  assert.equal(handshake?.url, '/chat?room=1');
  for (const name of ['cookie', 'authorization', 'x-forwarded-for']) assert.equal(handshake?.headers[name], undefined);
  const fromCaller: Buffer[] = [];
  backend?.on('data', (chunk: Buffer) => fromCaller.push(chunk));
  const bytes = Buffer.from(Array.from({ length: 256 }, (_value, index) => index));
  connection.socket.write(bytes);
  const expected = Buffer.concat([Buffer.from('hello'), bytes]);
  await until(() => Buffer.concat(fromCaller).length >= expected.length);
  assert.deepEqual(Buffer.concat(fromCaller), expected);
  backend?.write(bytes);
  await connection.until(() => connection.received().length >= head.length + bytes.length);
  assert.equal(connection.received().slice(head.length), bytes.toString('latin1'));
  assert.equal(tested.gateway.activeRequests(), 1);
  connection.socket.destroy();
  assert.ok(backend);
  if (!backend.readableEnded) await once(backend, 'end');
  await until(() => tested.gateway.activeRequests() === 0);
});

test('a workload that ends a WebSocket ends it for the caller, after its last bytes', async () => {
  const connection = await ask();
  await connection.until(() => connection.received().endsWith('welcome'));
  backend?.end('goodbye');
  await connection.closed();
  assert.ok(connection.received().endsWith('goodbye'));
});

test('a Gateway that closes ends its WebSockets', async () => {
  const connection = await ask();
  await connection.until(() => connection.received().endsWith('welcome'));
  await tested.gateway.close();
  await connection.closed();
});

test('a handshake that the workload declines is answered like any request', async () => {
  workload.removeAllListeners('upgrade');
  const connection = await ask();
  await connection.closed();
  assert.deepEqual(
    connection.answers().map(({ status, body }) => [status, body]),
    [[403, 'no']],
  );
  assert.doesNotMatch(connection.received(), /set-cookie/i);
});

test('without a workload a handshake is answered 502', async () => {
  workload.close();
  await once(workload, 'close');
  const connection = await ask();
  await connection.closed();
  assert.equal(connection.answers()[0]?.status, 502);
  await until(() => tested.gateway.activeRequests() === 0);
});
