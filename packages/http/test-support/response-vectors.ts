// Every response vector, as the answer of a hostile upstream, byte for byte through one carrier of the platform: one
// test for each, judged by what the caller sees.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { openRaw, type RawAnswer, type RawTarget } from './raw-exchange.ts';

/** A way through the platform to a hostile upstream. */
export interface Carrier {
  /** Where the caller connects. */
  readonly to: RawTarget;
  /** Fields of its requests besides `Connection`, `Host` among them. */
  readonly fields: readonly string[];
  /** Default: `/x`. */
  readonly path?: string;
  readonly upstream: HostileUpstream;
  /** Fields of an answer that never pass. */
  readonly dropped: readonly string[];
}

export interface HostileUpstream {
  readonly server: Server;
  /** What each connection sends once bytes have come in on it, and then ends. */
  answer: Buffer;
  readonly connections: Socket[];
}

interface VectorCase {
  readonly name: string;
  readonly raw: string;
  readonly expected: 'reject' | 'accept-one' | 'accept-n' | 'accept-then-reject' | 'incomplete' | 'either';
  readonly requestMethod?: string;
}

interface Outcome {
  readonly answer: RawAnswer | undefined;
  readonly received: string;
}

/**
 * Cases whose expected value cannot hold for a client that asked for no tunnel. Each is still run, and must fail
 * closed.
 */
const REFUSED: Readonly<Record<string, string>> = {
  'connection.md:296': 'a client that asked for no change of protocol gets none (RFC 9110 7.8)',
  'connection.md:334': 'a client that asked for no change of protocol gets none (RFC 9110 7.8)',
};

function readCases(file: string): VectorCase[] {
  const vectors: { readonly cases: readonly VectorCase[] } = JSON.parse(
    readFileSync(new URL(`../test-vectors/${file}`, import.meta.url), 'utf8'),
  );
  return vectors.cases.map((item) => ({ ...item, name: item.name.replace(/^response\//, '') }));
}

const cases = [...readCases('http-response-cases.json'), ...readCases('http-response-llhttp.json')];
const keyOf = ({ name }: VectorCase): string => name.split(' ', 1)[0] ?? '';

/** Every response vector, as bytes. */
export function responseVectors(): { readonly name: string; readonly raw: Buffer }[] {
  return cases.map(({ name, raw }) => ({ name, raw: Buffer.from(raw, 'base64') }));
}

export async function startHostileUpstream(at: ListenOptions): Promise<HostileUpstream> {
  const server = createServer((socket) => {
    upstream.connections.push(socket);
    // The carrier may drop the connection at any byte.
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(upstream.answer));
  });
  const upstream: HostileUpstream = { server, answer: Buffer.alloc(0), connections: [] };
  server.listen(at);
  await once(server, 'listening');
  return upstream;
}

/** Registers a test for each response vector. `carrier` is called when they run. */
export function testResponseVectors(name: string, carrier: () => Carrier): void {
  test(`${name}: each exception from a response vector names a vector`, () => {
    for (const key of Object.keys(REFUSED))
      assert.ok(
        cases.some((item) => keyOf(item) === key),
        key,
      );
  });
  for (const item of cases) {
    const reason = REFUSED[keyOf(item)];
    const expected = reason === undefined ? item.expected : 'reject';
    test(`${name}: ${item.name} is ${expected}${reason === undefined ? '' : `, since ${reason}`}`, async () => {
      const through = carrier();
      const before = through.upstream.connections.length;
      const outcome = await visit(through, { ...item, expected });
      judge({ ...item, expected }, outcome, through);
      assert.equal(through.upstream.connections.length, before + 1, 'sent once, on a connection of its own');
    });
  }
  test(`${name}: body bytes in an answer to HEAD do not reach the caller`, async () => {
    const raw = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc').toString('base64');
    const { received } = await visit(carrier(), { name: 'HEAD', raw, expected: 'accept-one', requestMethod: 'HEAD' });
    assert.match(received, /^HTTP\/1\.1 200/);
    assert.ok(received.endsWith('\r\n\r\n'), received);
  });
}

async function visit({ to, fields, path = '/x', upstream }: Carrier, item: VectorCase): Promise<Outcome> {
  upstream.answer = Buffer.from(item.raw, 'base64');
  const before = upstream.connections.length;
  const caller = await openRaw(
    to,
    `${item.requestMethod ?? 'GET'} ${path} HTTP/1.1\r\n${[...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`,
  );
  await caller.closed();
  // The next case would otherwise travel on what this one has left behind.
  for (const socket of upstream.connections.slice(before)) if (!socket.destroyed) await once(socket, 'close');
  return { answer: caller.answers()[0], received: caller.received() };
}

function judge(item: VectorCase, outcome: Outcome, { dropped }: Carrier): void {
  const { answer, received } = outcome;
  const bytes = Buffer.from(item.raw, 'base64').toString('latin1');
  assert.ok(!received.includes('HTTP/1.1 101'), received);
  for (const field of dropped) assert.doesNotMatch(received, new RegExp(`\\r\\n${field}:`, 'i'));
  switch (item.expected) {
    case 'reject':
      assertFailed(outcome);
      break;
    case 'accept-one':
    case 'accept-n':
    case 'accept-then-reject': {
      const head = /^(?:\r\n)?(?:HTTP\/1\.1 1\d\d.*\r\n(?:.+\r\n)*\r\n)?(?:\r\n)*HTTP\/1\.[01] (\d{3})/.exec(bytes);
      assert.ok(head !== null);
      assert.equal(Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1]), Number(head[1]), received);
      assert.doesNotMatch(received, /\r(?!\n)/);
      break;
    }
    case 'incomplete': {
      const head = bytes.split('\r\n\r\n', 1)[0] ?? '';
      // A body that ends with its connection passes; anything announced and not delivered breaks off.
      if (answer !== undefined && answer.status < 500 && !/content-length/i.test(head)) {
        assert.equal(answer.body, bytes.slice(head.length + 4), received);
      } else assertFailed(outcome);
      break;
    }
    case 'either':
      if (answer !== undefined) assert.ok(answer.status < 500 || answer.status === 502, received);
      break;
  }
}

/** The caller got an error, or its answer broke off before it was complete. */
function assertFailed({ answer, received }: Outcome): void {
  if (answer?.status === 502) {
    assert.match(answer.body, /"code":"upstream_failed"/);
    return;
  }
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return;
  const head = received.slice(0, end);
  const body = received.slice(end + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length === null) {
    assert.match(head, /\r\ntransfer-encoding: chunked/i, received);
    assert.ok(!body.endsWith('0\r\n\r\n'), received);
  } else assert.ok(body.length < Number(length[1]), received);
}
