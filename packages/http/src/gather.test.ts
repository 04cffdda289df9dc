// A sender who cuts a stream into single bytes makes no other side hold more than its bytes: bodies that are read, that wait,
// and that pass, in both directions.
import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { afterEach, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Pool } from 'undici';
import { poolTo, upstreamOver } from '../test-support/carried-to.ts';
import { listening } from '../test-support/listening.ts';
import { portOf } from '../test-support/port-of.ts';
import { openRaw, type RawConnection } from '../test-support/raw-exchange.ts';
import { carry } from './carry.ts';
import { gatherPieces, gatherWrites } from './gather.ts';
import { readBody } from './read-body.ts';
import type { IncomingRequest } from './server.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const MiB = 1024 * 1024;
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const ONE_BYTE = '1\r\nx\r\n';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function held(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function raw(port: number, bytes: string): Promise<RawConnection> {
  const connection = await openRaw(port, bytes);
  closing.push(() => connection.socket.destroy());
  return connection;
}

/** Resolves when nothing has been sent or read for a while: each side waits for the other. */
async function stalled(sockets: readonly Socket[]): Promise<void> {
  const moved = (): number => sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
  for (let quiet = 0, before = -1; quiet < 20; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    const now = moved();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
}

/** An upstream of the test, and a front that carries every request to it. */
async function carrying(onConnection: (socket: Socket) => void): Promise<{ port: number; pool: Pool }> {
  const upstream: Server = createServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  upstream.listen(0, '127.0.0.1');
  await new Promise((resolve) => upstream.once('listening', resolve));
  const pool = poolTo(portOf(upstream));
  closing.push(() => {
    upstream.close();
    void pool.destroy();
  });
  const port = await listening((incoming: IncomingRequest) => {
    const carried = carry(incoming, {
      upstream: upstreamOver(pool, incoming),
    });
    incoming.res.on('close', () => carried.abandon());
  });
  return { port, pool };
}

test('a body of one-byte chunks that is read as a whole takes what its bytes take', async () => {
  let read = 0;
  const port = await listening(({ req, res }) => {
    req.on('data', (piece: Buffer) => {
      read += piece.length;
    });
    void readBody(req, { limit: 2 * MiB, milliseconds: 60_000 }).then((body) => res.end(String(body.length)));
  });
  const before = held();
  const sender = await raw(port, POST);
  for (let sent = 0; sent < 16; sent += 1) {
    sender.socket.write(ONE_BYTE.repeat(MiB / 16));
    while (read < ((sent + 1) * MiB) / 16) await new Promise((resolve) => setImmediate(resolve));
  }
  const growth = held() - before;
  assert.ok(growth < 12 * MiB, `${(growth / MiB).toFixed(1)} MiB are held of one`);
  sender.socket.write('0\r\n\r\n');
  await sender.until(() => sender.answers().length === 1);
  assert.match(sender.received(), new RegExp(`${MiB}`));
});

const SENDERS = 8;
const MOST_OF_ONE = MiB;

async function heldOf(open: (connections: Socket[]) => Promise<void>): Promise<number> {
  const sockets: Socket[] = [];
  const before = held();
  await open(sockets);
  await stalled(sockets);
  return (held() - before) / SENDERS;
}

test('bodies of one-byte chunks that nobody reads take no more than others', async () => {
  const port = await listening(() => undefined);
  const each = await heldOf(async (sockets) => {
    for (let index = 0; index < SENDERS; index += 1) {
      const sender = await raw(port, POST);
      sender.socket.write(ONE_BYTE.repeat(200_000));
      sockets.push(sender.socket);
    }
  });
  // With what the sender has not sent.
  assert.ok(each < 2.5 * MiB, `${(each / MiB).toFixed(2)} MiB each`);
});

test('uploads in one-byte chunks to an upstream that does not read take no more than others', async () => {
  const { port } = await carrying((socket) => socket.pause());
  const piece = Buffer.from(ONE_BYTE.repeat(200_000));
  const each = await heldOf(async (sockets) => {
    for (let index = 0; index < SENDERS; index += 1) {
      const sender = await raw(port, POST);
      for (let count = 0; count < 10; count += 1) sender.socket.write(piece);
      sockets.push(sender.socket);
    }
  });
  assert.ok(each < MOST_OF_ONE, `${(each / MiB).toFixed(2)} MiB each`);
});

test('answers of one-byte chunks to clients that do not read take no more than others', async () => {
  const piece = Buffer.from(ONE_BYTE.repeat(200_000));
  const { port } = await carrying((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let count = 0; count < 10; count += 1) socket.write(piece);
    });
  });
  const each = await heldOf(async (sockets) => {
    for (let index = 0; index < SENDERS; index += 1) {
      const reader = await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      reader.socket.pause();
      sockets.push(reader.socket);
    }
  });
  assert.ok(each < MOST_OF_ONE, `${(each / MiB).toFixed(2)} MiB each`);
});

test('what comes in few pieces passes at once, each by itself', async () => {
  const { port } = await carrying((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'));
    closing.push(() => socket.destroy());
    senders.push(socket);
  });
  const reader = await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await reader.until(() => reader.received().includes('\r\n\r\n'));
  for (let index = 0; index < 100; index += 1) {
    senders[0]?.write(`4\r\n${String(index).padStart(4, '-')}\r\n`);
    await reader.until(() => reader.received().includes(`${String(index).padStart(4, '-')}\r\n`));
  }
});
const senders: Socket[] = [];

/** The same for every run: a sequence of numbers below 1. */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A stream whose writes end when the test says so. */
class Blocked extends Duplex {
  readonly left: Buffer[] = [];
  /** Pieces that waited in one write. */
  most = 0;
  #done: (() => void) | null = null;

  override _read(): void {}

  override _writev(pieces: { chunk: unknown; encoding: BufferEncoding }[], done: () => void): void {
    this.most = Math.max(this.most, pieces.length);
    for (const { chunk, encoding } of pieces)
      this.left.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk as Buffer));
    this.#done = done;
  }

  release(): boolean {
    const done = this.#done;
    this.#done = null;
    done?.();
    return done !== null;
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function releaseAll(stream: Blocked): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    idle = stream.release() ? 0 : idle + 1;
    await turn();
  }
}

test('single bytes that are written to a stream that is blocked are few pieces, and hold their writer back', async () => {
  const stream = new Blocked({ decodeStrings: false });
  gatherWrites(stream);
  let taken = 0;
  while (stream.write(Buffer.of(taken % 256))) taken += 1;
  assert.ok(taken < 2 * stream.writableHighWaterMark, `${taken} bytes were taken`);
  let drained = 0;
  stream.on('drain', () => {
    drained += 1;
  });
  await releaseAll(stream);
  assert.ok(drained > 0);
  assert.ok(stream.most < 100, `${stream.most} pieces waited`);
  const bytes = Buffer.concat(stream.left);
  assert.equal(bytes.length, taken + 1);
  assert.ok(bytes.every((byte, index) => byte === index % 256));
});

for (let seed = 1; seed <= 50; seed += 1) {
  test(`whatever is written leaves in order, and its writer goes on (${seed})`, async () => {
    const random = sequence(seed);
    const stream = new Blocked({ decodeStrings: false, highWaterMark: 1 + Math.floor(random() * 20_000) });
    gatherWrites(stream);
    const written: Buffer[] = [];
    let called = 0;
    let expected = 0;
    for (let step = 0; step < 400; step += 1) {
      const size = 1 + Math.floor(random() ** 8 * 9_000);
      const bytes = Buffer.alloc(size, 97 + Math.floor(random() * 26));
      const kind = random();
      let goesOn: boolean;
      if (kind < 0.6) goesOn = stream.write(bytes);
      else if (kind < 0.75) goesOn = stream.write(bytes.toString('latin1'), 'latin1');
      else if (kind < 0.85) goesOn = stream.write(bytes.toString('utf8'));
      else {
        expected += 1;
        goesOn = stream.write(bytes, () => {
          called += 1;
        });
      }
      written.push(bytes);
      if (random() < 0.1) stream.cork();
      if (random() < 0.3) while (stream.writableCorked > 0) stream.uncork();
      if (!goesOn) {
        while (stream.writableCorked > 0) stream.uncork();
        const drained = new Promise((resolve) => stream.once('drain', resolve));
        void releaseAll(stream);
        await drained;
      } else if (random() < 0.05) {
        stream.release();
        await turn();
      }
    }
    const finished = new Promise((resolve) => stream.once('finish', resolve));
    stream.end('z');
    while (stream.writableCorked > 0) stream.uncork();
    await releaseAll(stream);
    await finished;
    assert.equal(called, expected);
    assert.ok(Buffer.concat([...written, Buffer.from('z')]).equals(Buffer.concat(stream.left)));
  });

  test(`whatever arrives is read in order, by every kind of reader (${seed})`, async () => {
    const random = sequence(seed);
    let wanted = true;
    const stream = new Readable({
      highWaterMark: 1 + Math.floor(random() * 20_000),
      read() {
        wanted = true;
      },
    });
    gatherPieces(stream);
    const sent: Buffer[] = [];
    const read: Buffer[] = [];
    let hasEnded = false;
    stream.once('end', () => {
      hasEnded = true;
    });
    const reader = Math.floor(random() * 3);
    if (reader === 0) stream.on('data', (piece: Buffer) => void read.push(Buffer.from(piece)));
    else if (reader === 1)
      stream.on('readable', () => {
        for (let piece: Buffer | null = stream.read(); piece !== null; piece = stream.read()) read.push(piece);
      });
    else
      void (async () => {
        for await (const piece of stream) {
          read.push(piece as Buffer);
          if (random() < 0.3) await turn();
        }
      })();
    for (let step = 0; step < 600; step += 1) {
      const bytes = Buffer.alloc(1 + Math.floor(random() ** 8 * 9_000), 97 + Math.floor(random() * 26));
      sent.push(bytes);
      if (!stream.push(bytes)) {
        wanted = false;
        if (stream.isPaused()) stream.resume();
        while (!wanted) await turn();
      }
      if (reader === 0 && random() < 0.05) stream.pause();
      if (reader === 0 && random() < 0.05) stream.resume();
      if (random() < 0.1) await turn();
    }
    stream.push(null);
    if (reader === 0) stream.resume();
    while (!hasEnded) await turn();
    assert.ok(Buffer.concat(sent).equals(Buffer.concat(read)));
  });
}
