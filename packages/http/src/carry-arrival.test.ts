// A body that never ends keeps neither its connection nor an upstream: short ones have a time, longer ones a rate.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { listening } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw } from '../test-support/raw-exchange.ts';
import { carry } from './carry.ts';

let upstream: Server;
let pool: Pool;
let port: number;
let answersEarly: boolean;

beforeEach(async () => {
  answersEarly = false;
  upstream = createServer((req, res) => {
    req.on('error', () => undefined);
    if (answersEarly) res.writeHead(200).write('begun');
    req.resume().on('end', () => res.end('whole'));
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  pool = poolTo(portOf(upstream));
  port = await listening(
    (incoming) => {
      const carried = carry(incoming, {
        upstream: upstreamOver(pool, incoming),
        arrival: { shortMilliseconds: 300, bytesPerSecond: 1_000, milliseconds: 300 },
      });
      incoming.res.on('close', () => carried.abandon());
    },
    { limits: { headMilliseconds: 500, keepAliveMilliseconds: 0 } },
  );
});

afterEach(async () => {
  await pool.destroy();
  upstream.close();
  upstream.closeAllConnections();
});

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const KINDS: Readonly<Record<string, readonly [head: string, begin: string, drip: string]>> = {
  'a short body that does not begin': ['Content-Length: 100', '', ''],
  'a short body that stops': ['Content-Length: 100', 'half', ''],
  'a short body of drops': ['Content-Length: 10000', 'half', 'x'],
  'a short body behind Expect': ['Content-Length: 100\r\nExpect: 100-continue', 'half', ''],
  'a long body that stops': ['Content-Length: 1000000', 'half', ''],
  'a long body of drops': ['Content-Length: 1000000', 'half', 'x'],
  'a chunked body that does not begin': ['Transfer-Encoding: chunked', '', ''],
  'a chunked body that stops': ['Transfer-Encoding: chunked', chunk('half'), ''],
  'a chunked body of drops': ['Transfer-Encoding: chunked', chunk('half'), chunk('x')],
  'a chunked body that stops after much': ['Transfer-Encoding: chunked', chunk('x'.repeat(100_000)), ''],
};

for (const [what, [head, begin, drip]] of Object.entries(KINDS)) {
  test(`${what} is refused, and its connection ends`, { timeout: 20_000 }, async (t) => {
    const sender = await openRaw(port, `POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n${begin}`);
    const dripping = setInterval(() => drip !== '' && sender.socket.write(drip), 60);
    t.after(() => clearInterval(dripping));
    await sender.closed();
    assert.match(sender.received(), /HTTP\/1\.1 400 /);
  });
}

test('an answer that has begun does not keep a body without end', { timeout: 20_000 }, async () => {
  answersEarly = true;
  const sender = await openRaw(
    port,
    `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk('half')}`,
  );
  await sender.closed();
  assert.match(sender.received(), /begun/);
});

test('a body that keeps the rate passes, however long it takes', async (t) => {
  const sender = await openRaw(port, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  // Four times the time in which the rate is looked at.
  let pieces = 0;
  const dripping = setInterval(() => {
    pieces += 1;
    sender.socket.write(chunk('x'.repeat(200)));
  }, 30);
  t.after(() => clearInterval(dripping));
  while (pieces < 40) await new Promise((resolve) => setImmediate(resolve));
  clearInterval(dripping);
  sender.socket.write('0\r\n\r\n');
  await sender.until(() => sender.answers().length === 1);
  assert.match(sender.received(), /^HTTP\/1\.1 200 .*whole/s);
  sender.socket.destroy();
});
