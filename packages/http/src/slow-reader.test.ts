// Clients that ask for an answer and do not take it lose their connection; slow ones and silent streams keep theirs.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { switching } from '../test-support/handshakes.ts';
import { listening, opened } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { carry } from './carry.ts';
import { carryUpgrade } from './carry-upgrade.ts';
import type { IncomingRequest } from './server.ts';
import type { ReadingRate } from './slow-reader.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
/** More than the kernel keeps for both sides of a connection. */
const LARGE = randomBytes(24 * 1024 * 1024);
const reading: ReadingRate = { bytesPerSecond: 64 * 1024, milliseconds: 250 };
const WINDOWS = 6;

const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

/** A client that reads nothing by itself. */
async function silentClient(port: number, bytes: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' }).pause();
  clients.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

const writings: Readonly<Record<string, (incoming: IncomingRequest) => void>> = {
  'in one write': ({ res }) => void res.end(LARGE),
  'in pieces, as fast as they are taken': ({ res }) => {
    const write = (from: number): void => {
      const to = from + 64 * 1024;
      if (from >= LARGE.length) res.end();
      else if (res.write(LARGE.subarray(from, to))) setImmediate(write, to);
      else res.once('drain', () => write(to));
    };
    write(0);
  },
};

for (const [how, write] of Object.entries(writings)) {
  describe(`an answer that is written ${how}`, () => {
    let port = 0;
    let closed: Promise<unknown> = Promise.resolve();

    beforeEach(async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      closed = promise;
      port = await listening(
        (incoming) => {
          incoming.res.once('close', resolve);
          write(incoming);
        },
        { limits: { reading } },
      );
    });

    test('ends with its connection when nothing is taken', async () => {
      await silentClient(port, GET);
      await closed;
    });

    test('ends with its connection when a few bytes are taken now and then', async () => {
      const client = await silentClient(port, GET);
      const trickle = setInterval(() => client.read(1), 20);
      await closed;
      clearInterval(trickle);
    });

    test('arrives whole when it is taken slowly, but above the rate', async () => {
      // Long enough for a busy machine to give this client its turn.
      const patient: ReadingRate = { ...reading, milliseconds: 1_500 };
      const client = await silentClient(await listening(write, { limits: { reading: patient } }), GET);
      let received = 0;
      const start = performance.now();
      while (received < LARGE.length) {
        const chunk: Buffer | null = client.read();
        assert.ok(!client.destroyed, `cut off after ${received} bytes`);
        received += chunk?.length ?? 0;
        // Several windows for all of it.
        await after(chunk === null ? 1 : (chunk.length / LARGE.length) * 3 * patient.milliseconds);
      }
      assert.ok(performance.now() - start > 2 * patient.milliseconds);
    });
  });
}

test('a stream with nothing to send stays, also after its reader was slow', async () => {
  const begun = Promise.withResolvers<IncomingRequest>();
  const port = await listening(begun.resolve, { limits: { reading } });
  const client = await silentClient(port, GET);
  client.resume();
  const { res } = await begun.promise;
  for (let event = 0; event < WINDOWS; event += 1) {
    res.write('data: {}\n\n');
    await after(reading.milliseconds);
  }
  assert.ok(!res.destroyed);
});

for (const [what, request] of Object.entries({ 'an answer': GET, 'a WebSocket': UPGRADE })) {
  test(`a forwarder of ${what} that nobody takes leaves its upstream too`, async () => {
    const left = Promise.withResolvers<void>();
    const upstream = createServer((_req, res) => {
      res.once('close', left.resolve);
      res.end(LARGE);
    });
    upstream.on('upgrade', (req, socket: Socket) => {
      socket.once('close', left.resolve).on('error', () => undefined);
      socket.write(switching(req));
      socket.write(LARGE);
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const pool = poolTo(portOf(upstream));
    const server = await opened({
      isOwnHost: () => true,
      onRequest: (incoming) => carry(incoming, { upstream: upstreamOver(pool, incoming) }),
      onUpgrade: (incoming) =>
        void carryUpgrade(incoming, { upstream: upstreamOver(pool, incoming), idleMilliseconds: 600_000 }),
      limits: { reading },
    });
    await silentClient(portOf(server), request);
    await left.promise;
    upstream.close();
    await pool.destroy();
  });
}
