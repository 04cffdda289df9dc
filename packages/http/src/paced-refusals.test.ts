// Refusals of the strict server are held back for as long as its owner says, and nothing is read meanwhile.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listening, statuses } from '../test-support/listening.ts';
import { openRaw } from '../test-support/raw-exchange.ts';

const GET = 'GET /get HTTP/1.1\r\nHost: a\r\n\r\n';
const HELD = 60;

/** A server that holds each refusal back. @returns its port, and how many requests were counted each time */
async function holding(): Promise<{ port: number; counted: number[] }> {
  const counted: number[] = [];
  const port = await listening(({ res }) => res.end(), {
    browsers: true,
    paceRefusals(_socket, refusals) {
      counted.push(refusals);
      return HELD;
    },
  });
  return { port, counted };
}

describe('held back, and then answered as usual', () => {
  const broken: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
    'another host': ['GET / HTTP/1.1\r\nHost: b\r\n\r\n', 421],
    'no request': ['\u0000garbage\r\n\r\n', 400],
    'a head that is too large': [`GET / HTTP/1.1\r\nHost: a\r\nCookie: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    'a tunnel': ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
  };
  for (const [what, [bytes, status]] of Object.entries(broken)) {
    test(what, async () => {
      const { port, counted } = await holding();
      const begun = performance.now();
      const connection = await openRaw(port, bytes);
      await connection.closed();
      assert.deepEqual(statuses(connection), [status]);
      assert.ok(performance.now() - begun >= HELD - 2);
      assert.deepEqual(counted, [1]);
    });
  }
});

test('a good request is not held back', async () => {
  const { port, counted } = await holding();
  const connection = await openRaw(port, GET);
  await connection.until(() => connection.answers().length === 1);
  connection.socket.destroy();
  assert.deepEqual(counted, []);
});

test('a connection with too many requests at once is ended after the pause, and counts for all of them', async () => {
  const { port, counted } = await holding();
  const begun = performance.now();
  const connection = await openRaw(port, GET.repeat(1_000));
  await connection.closed();
  assert.ok(performance.now() - begun >= HELD - 2);
  assert.deepEqual(counted, [32]);
});
