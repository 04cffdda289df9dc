// The begin of every answer on a connection is checked, whoever reads the answer and however many came before, and what an
// upstream sends without an end is ended where nothing of it passes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { buildConnector, type Pool } from 'undici';
import { portOf } from '../test-support/port-of.ts';
import { openPool } from './pool.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let server: Server;
let pool: Pool;
let connections = 0;
/** What the upstream answers to the requests of a connection, one after the other. */
let answers: string[] = [];

before(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answers.shift() ?? OK, 'latin1'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => void server.close());
beforeEach(() => {
  connections = 0;
  pool = openPool(`http://127.0.0.1:${portOf(server)}`, { connect: buildConnector({}) });
});

async function get(): Promise<string> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: '/' });
  return `${statusCode} ${await body.text()}`;
}

for (const [what, interim] of [
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['several interim answers', 'HTTP/1.1 102 Processing\r\nA: b\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
] as const) {
  test(`${what} is skipped before the first answer of a connection and before later ones`, async (t) => {
    t.after(() => pool.destroy());
    answers = Array.from({ length: 10 }, () => interim + OK);
    for (let count = 0; count < 10; count += 1) assert.equal(await get(), '200 ok');
    assert.ok(connections < 5, `${connections} connections`);
  });
}

for (const head of [
  'ICY 200 OK\r\n\r\n',
  'HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200\tOK\r\n\r\n',
]) {
  test(`an answer that begins with ${JSON.stringify(head.slice(0, 14))} fails as the second one too`, async (t) => {
    t.after(() => pool.destroy());
    answers = Array.from({ length: 10 }, () => OK);
    for (let count = 0; count < 10; count += 1) assert.equal(await get(), '200 ok');
    answers = [head];
    await assert.rejects(get(), { code: 'ERR_UPSTREAM_PROTOCOL' });
    assert.equal(await get(), '200 ok');
    assert.ok(connections < 6, `${connections} connections`);
  });
}

/** Sends `bytes` again and again, for as long as they are read. */
function repeat(socket: Socket, bytes: string): void {
  const text = bytes.repeat(Math.ceil(4_096 / bytes.length));
  const next = (): void => {
    while (socket.writable && socket.write(text, 'latin1'));
  };
  socket.on('drain', next);
  next();
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

for (const [what, begin, again] of [
  ['interim answers', '', 'HTTP/1.1 102 Processing\r\nA: b\r\n\r\n'],
  ['empty lines', '', '\r\n'],
  ['one extension of a chunk', `${CHUNKED}1;`, 'a'],
  ['the extensions of small chunks', CHUNKED, `1;${'a'.repeat(500)}\r\nx\r\n`],
  ['trailers', `${CHUNKED}0\r\n`, 'A: b\r\n'],
  ['fields', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
] as const) {
  test(`${what} without end are broken off`, { timeout: 20_000 }, async (t) => {
    const closed = Promise.withResolvers<void>();
    const endless = createServer((socket) => {
      socket.on('error', () => undefined).on('close', () => closed.resolve());
      socket.once('data', () => {
        socket.write(begin, 'latin1');
        repeat(socket, again);
      });
    }).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const pool = openPool(`http://127.0.0.1:${portOf(endless)}`, { connect: buildConnector({}) });
    t.after(() => pool.destroy());
    t.after(() => void endless.close());
    const read = async () => {
      const { body } = await pool.request({ method: 'GET', path: '/' });
      return body.text();
    };
    await assert.rejects(read());
    await closed.promise;
  });
}

test('a body of the smallest chunks passes, whole and for a reader that stops again and again', async (t) => {
  t.after(() => pool.destroy());
  const size = 3 * 1024 * 1024;
  answers = [`${CHUNKED}${'1\r\nx\r\n'.repeat(size)}0\r\n\r\n`];
  const { body } = await pool.request({ method: 'GET', path: '/' });
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(length, size);
});

test('what follows an upgrade is not counted', async (t) => {
  t.after(() => pool.destroy());
  const size = 3 * 1024 * 1024;
  answers = [
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${'x'.repeat(size)}`,
  ];
  const { socket } = await pool.upgrade({ path: '/', protocol: 'websocket' });
  let length = 0;
  for await (const part of socket) {
    length += (part as Buffer).length;
    if (length === size) break;
  }
  assert.equal(length, size);
});
