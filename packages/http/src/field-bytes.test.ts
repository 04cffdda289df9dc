// Values of fields pass every hop byte for byte, whatever the framing, in both directions; and phrases fit their status.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import { after, before, test } from 'node:test';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { answerWith, BYTE_FIELDS, byteServer, FRAMINGS, valueIn } from '../test-support/field-bytes.ts';
import { listening } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { carry } from './carry.ts';
import { sendProblem } from './problem.ts';

let answer: Buffer = Buffer.alloc(0);
let upstream: Server;
let bytes: Pool;

before(async () => {
  upstream = byteServer(() => answer).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  bytes = poolTo(portOf(upstream));
});
after(async () => {
  await bytes.destroy();
  upstream.close();
});

/** A server that carries everything over `pool`. @returns its port */
function carrier(pool: Pool): Promise<number> {
  return listening((incoming) => {
    const carried = carry(incoming, { upstream: upstreamOver(pool, incoming) });
    incoming.res.on('close', () => carried.abandon());
  });
}

async function ask(port: number, method = 'GET') {
  const connection = await openRaw(port, `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await connection.closed();
  const [first] = connection.answers();
  assert.ok(first !== undefined, connection.received());
  return first;
}

for (const framing of Object.keys(FRAMINGS)) {
  test(`answers framed by ${framing} keep the bytes of their fields over two hops`, async () => {
    const near = poolTo(await carrier(bytes));
    const port = await carrier(near);
    for (const field of BYTE_FIELDS) {
      answer = answerWith(field, framing);
      const { status, head } = await ask(port);
      assert.equal(status, 200, field.name);
      assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
      assert.equal(valueIn(head, field.name), field.value, field.name);
    }
    await near.destroy();
  });
}

test('so do answers without a body, by their method or status', async () => {
  const port = await carrier(bytes);
  for (const field of BYTE_FIELDS) {
    answer = answerWith(field, 'Content-Length before it').subarray(0, -2);
    assert.equal(valueIn((await ask(port, 'HEAD')).head, field.name), field.value);
    const line = `${field.name}: ${field.value}\r\n\r\n`;
    for (const status of ['204 No Content', '304 Not Modified']) {
      answer = Buffer.from(`HTTP/1.1 ${status}\r\n${line}`, 'latin1');
      assert.equal(valueIn((await ask(port)).head, field.name), field.value, status);
    }
  }
});

test('so do answers to a request that has not arrived as a whole', async () => {
  const port = await carrier(bytes);
  for (const field of BYTE_FIELDS) {
    for (const framing of ['chunks', 'no body', 'Content-Length before it']) {
      answer = answerWith(field, framing);
      const head = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n';
      const connection = await openRaw(port, `${head}begun`);
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      assert.equal(valueIn(connection.received(), field.name), field.value, framing);
      connection.socket.destroy();
    }
  }
});

test('requests keep the bytes of their fields, whatever frames their bodies', async (t) => {
  const seen: IncomingMessage[] = [];
  const backend = createServer((req, res) => {
    seen.push(req);
    req.resume().on('end', () => res.end('ok'));
  }).listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const pool = poolTo(portOf(backend));
  t.after(async () => {
    await pool.destroy();
    backend.close();
  });
  const port = await carrier(pool);
  const bodies = [
    '\r\n',
    'Content-Length: 2\r\n\r\nok',
    `Content-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
    'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    `Transfer-Encoding: chunked\r\n\r\n186a0\r\n${'x'.repeat(100_000)}\r\n0\r\n\r\n`,
  ];
  for (const body of bodies) {
    for (const { name, value } of BYTE_FIELDS) {
      const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${name}: ${value}\r\n`;
      const connection = await openRaw(port, Buffer.from(head + body, 'latin1'));
      await connection.closed();
      assert.equal(connection.answers()[0]?.status, 200);
      const { rawHeaders = [] } = seen.at(-1) ?? {};
      assert.equal(rawHeaders[rawHeaders.indexOf(name) + 1], value, body.slice(0, 40));
    }
  }
});

test('a refusal in place of a head that could not be written has the phrase of its own status', async () => {
  const port = await listening(({ res }) => {
    assert.throws(() => res.writeHead(200, { 'X-Title': '\u{1f600}' }));
    sendProblem(res, { code: 'upstream_failed' });
  });
  assert.match((await ask(port)).head, /^HTTP\/1\.1 502 Bad Gateway\r\n/);
});
