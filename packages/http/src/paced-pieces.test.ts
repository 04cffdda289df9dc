// A sender who cuts a body into single bytes is read in steps, each when it is its turn, so that others have the thread between
// them; what comes in few pieces waits for nobody.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, test } from 'node:test';
import type { Dispatcher } from 'undici';
import { listening } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw, type RawConnection } from '../test-support/raw-exchange.ts';
import { gatherAnswer, gatherPieces, paceReading } from './gather.ts';
import { readBody } from './read-body.ts';
import type { ThreadShare } from './thread-share.ts';

const KiB = 1_024;
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const ONE_BYTE = '1\r\nx\r\n';

const open: RawConnection[] = [];
const servers: Server[] = [];
afterEach(() => {
  for (const { socket } of open.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function raw(port: number, bytes: string): Promise<RawConnection> {
  const connection = await openRaw(port, bytes);
  open.push(connection);
  return connection;
}

/** A share whose steps are taken when the test says so. */
function scripted(isBusy = false) {
  const waiting: (() => void)[] = [];
  const share: ThreadShare = { isBusy, take: (step) => void waiting.push(step) };
  return { share, waiting };
}

/** Some turns of the event loop, in which whatever may arrive does. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A plain server whose bodies are read with `share`. */
async function reading(share: ThreadShare) {
  const seen = { bytes: 0, ended: false };
  const begun = Promise.withResolvers<void>();
  const server = createServer((req, res) => {
    gatherPieces(req);
    const paced = paceReading(req, share);
    req.on('data', (piece: Buffer) => {
      seen.bytes += piece.length;
    });
    req.on('end', () => {
      seen.ended = true;
      res.end(String(paced.wasHeld()));
    });
    begun.resolve();
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: portOf(server), seen, begun: begun.promise };
}

test('one-byte chunks are read in steps', async () => {
  const { share, waiting } = scripted();
  const { port, seen } = await reading(share);
  const size = 200 * KiB;
  const sender = await raw(port, `${POST}${ONE_BYTE.repeat(size)}0\r\n\r\n`);
  let steps = 0;
  while (!seen.ended) {
    await turns();
    const before = seen.bytes;
    await turns();
    if (waiting.length > 0) assert.equal(seen.bytes, before, 'nothing is read before its turn');
    assert.ok(waiting.length <= 1, 'a body waits once');
    steps += waiting.length;
    waiting.shift()?.();
  }
  assert.equal(seen.bytes, size);
  // Node reads 64 KiB at a time, which are 11,000 pieces; what has come already is not counted twice.
  assert.ok(steps >= (size * ONE_BYTE.length) / (128 * KiB), `${steps} steps`);
  await sender.until(() => sender.received().includes('true'));
});

test('a body in chunks of 4 KiB is read without a step', async () => {
  const { share, waiting } = scripted();
  const { port, seen } = await reading(share);
  const sender = await raw(port, `${POST}${`1000\r\n${'x'.repeat(4 * KiB)}\r\n`.repeat(100)}0\r\n\r\n`);
  await sender.until(() => sender.received().includes('false'));
  assert.equal(seen.bytes, 400 * KiB);
  assert.equal(waiting.length, 0);
});

test('while others wait, a new body is read when it is its turn', async () => {
  const { share, waiting } = scripted(true);
  const { port, seen, begun } = await reading(share);
  const sender = await raw(port, POST);
  await begun;
  sender.socket.write(`5\r\nhello\r\n0\r\n\r\n`);
  await turns();
  assert.equal(seen.bytes, 0);
  assert.equal(waiting.length, 1);
  waiting.shift()?.();
  await sender.until(() => sender.answers().length === 1);
  assert.equal(seen.bytes, 5);
});

test('bodies of one-byte chunks of many senders arrive whole', async () => {
  const size = 60_000;
  const port = await listening(({ req, res }) => {
    void readBody(req, { limit: size, milliseconds: 60_000 }).then((body) => res.end(`<${body.length}>`));
  });
  const body = `${POST}${ONE_BYTE.repeat(size)}0\r\n\r\n`;
  const senders = await Promise.all(Array.from({ length: 8 }, () => raw(port, body)));
  for (const sender of senders) await sender.until(() => sender.received().includes(`<${size}>`));
});

test('a connection whose body was held back ends with an answer that did not wait for it', async () => {
  const port = await listening(({ req, res }) => {
    req.once('data', () => req.once('data', () => setTimeout(() => res.end('enough'), 50)));
    req.resume();
  });
  const sender = await raw(port, `${POST}${ONE_BYTE.repeat(400_000)}`);
  await new Promise<void>((resolve) => sender.socket.once('close', () => resolve()));
  assert.match(sender.received(), /enough/);
});

/** What undici hands to a handler, and what it is told. */
function answering(share: ThreadShare) {
  const told: string[] = [];
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => told.push('abort'),
    pause: () => told.push('pause'),
    resume: () => told.push('resume'),
  } as unknown as Dispatcher.DispatchController;
  const handler: Dispatcher.DispatchHandler = { onResponseData: () => undefined };
  gatherAnswer(handler, share);
  handler.onResponseStart?.(controller, 200, {});
  const pieces = (count: number): void => {
    for (let piece = 0; piece < count; piece += 1) handler.onResponseData?.(controller, Buffer.of(0));
  };
  return { told, controller, pieces };
}

test('an answer of one-byte chunks stops until it is its turn, whatever its reader says', () => {
  const { share, waiting } = scripted();
  const { told, controller, pieces } = answering(share);
  pieces(16 * KiB);
  assert.deepEqual(told, ['pause']);
  controller.resume();
  assert.deepEqual(told, ['pause']);
  waiting.shift()?.();
  assert.deepEqual(told, ['pause', 'resume']);
});

test('an answer whose reader is behind goes on when the reader says so', () => {
  const { share, waiting } = scripted();
  const { told, controller, pieces } = answering(share);
  pieces(16 * KiB);
  controller.pause();
  waiting.shift()?.();
  assert.deepEqual(told, ['pause', 'pause']);
  controller.resume();
  assert.deepEqual(told, ['pause', 'pause', 'resume']);
});

test('an answer of few pieces never waits', () => {
  const { share, waiting } = scripted();
  const { told, pieces } = answering(share);
  pieces(200);
  assert.deepEqual(told, []);
  assert.equal(waiting.length, 0);
});
