// Every response vector, as the answer of a hostile workload on its Unix socket, byte for byte.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type GatewayUnderTest, startGatewayUnderTest } from '../test-support/gateway-under-test.ts';
import { openRaw, type RawAnswer } from '../test-support/raw-exchange.ts';

interface VectorCase {
  readonly name: string;
  readonly raw: string;
  readonly expected: 'reject' | 'accept-one' | 'accept-n' | 'accept-then-reject' | 'incomplete' | 'either';
  readonly requestMethod?: string;
}

/** Cases whose expected value cannot hold for a Gateway as client. Each is still run, and must fail closed. */
const REFUSED: Readonly<Record<string, string>> = {
  'connection.md:296': 'not applicable: a tunnel nobody asked for; http-response-cases 101-unsolicited has it refused',
  'connection.md:334': 'not applicable: a tunnel nobody asked for; http-response-cases 101-unsolicited has it refused',
};

/** Cases that the HTTP client reads more kindly than its vector. Each is run, and the answer must come out clean. */
const READ_LENIENTLY: Readonly<Record<string, string>> = {
  'invalid.md:179':
    'not applicable: the HTTP client takes two bare CRs for the end of the status line; no second parser reads those bytes, because the head is written anew',
};

interface Outcome {
  readonly answer: RawAnswer | undefined;
  readonly received: string;
  /** The connection to the workload that carried the case. */
  readonly workload: Socket;
}

let raw: Buffer = Buffer.alloc(0);
let current: Socket | null = null;
let connections = 0;
let workload: Server;
let tested: GatewayUnderTest;

before(async () => {
  tested = await startGatewayUnderTest('http://127.0.0.1:9');
  workload = createServer((socket) => {
    connections += 1;
    current = socket;
    // The Gateway may drop the connection at any byte.
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(raw));
  });
  workload.listen(tested.socketPath);
  await once(workload, 'listening');
});

after(async () => {
  await tested.close();
  workload.close();
});

async function visit(method: string, bytes: Buffer): Promise<Outcome> {
  raw = bytes;
  current = null;
  const visitor = await openRaw(
    tested.inboundPort,
    `${method} /x HTTP/1.1\r\nHost: node.test\r\nConnection: close\r\n\r\n`,
  );
  await visitor.closed();
  assert.ok(current !== null);
  const carrier: Socket = current;
  if (!carrier.destroyed) await once(carrier, 'close');
  return { answer: visitor.answers()[0], received: visitor.received(), workload: carrier };
}

/** The visitor was told of the failure, or its stream broke before it was complete. */
function assertFailed({ answer, received }: Outcome): void {
  if (answer?.status === 502) {
    assert.match(answer.body, /"code":"upstream_failed"/);
    return;
  }
  assertIncomplete(received);
}

function assertIncomplete(received: string): void {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return;
  const head = received.slice(0, end);
  const body = received.slice(end + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (length === null) {
    assert.match(head, /\r\ntransfer-encoding: chunked/i, received);
    assert.ok(!body.endsWith('0\r\n\r\n'), received);
  } else {
    assert.ok(body.length < Number(length[1]), received);
  }
}

async function readCases(file: string): Promise<VectorCase[]> {
  const url = new URL(`../test-vectors/${file}`, import.meta.url);
  const vectors: { readonly cases: readonly VectorCase[] } = JSON.parse(await readFile(url, 'utf8'));
  return vectors.cases.map((item) => ({ ...item, name: item.name.replace(/^response\//, '') }));
}

function statusOf(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1]);
}

function firstHead(bytes: Buffer): string {
  return bytes.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
}

const cases = [...(await readCases('http-response-cases.json')), ...(await readCases('http-response-llhttp.json'))];

test('every exception to a vector names an existing case', () => {
  for (const key of Object.keys(REFUSED))
    assert.ok(
      cases.some(({ name }) => name.startsWith(`${key} `)),
      key,
    );
});

for (const item of cases) {
  const key = item.name.split(' ', 1)[0] ?? '';
  const reason = REFUSED[key] ?? READ_LENIENTLY[key];
  const expected = key in REFUSED ? 'reject' : key in READ_LENIENTLY ? 'accept-one' : item.expected;
  test(`a workload's answer is treated as its vector says: ${item.name} is ${reason ?? expected}`, async () => {
    const bytes = Buffer.from(item.raw, 'base64');
    const outcome = await visit(item.requestMethod ?? 'GET', bytes);
    const { answer, received } = outcome;
    assert.ok(!received.includes('HTTP/1.1 101'));
    assert.doesNotMatch(received, /\r\n(?:x-secret|service-worker-allowed|clear-site-data|set-cookie|upgrade):/i);
    switch (expected) {
      case 'reject':
        assertFailed(outcome);
        break;
      case 'accept-one':
      case 'accept-n':
      case 'accept-then-reject': {
        const head = /^(?:\r\n)?(?:HTTP\/1\.1 1\d\d.*\r\n(?:.+\r\n)*\r\n)?(?:\r\n)*HTTP\/1\.[01] (\d{3})/.exec(
          bytes.toString('latin1'),
        );
        assert.equal(statusOf(received), Number(head?.[1] ?? 200), received);
        assert.doesNotMatch(received, /\r(?!\n)/);
        break;
      }
      case 'incomplete':
        // A body that ends with its connection passes; anything announced and not delivered breaks off.
        if (answer !== undefined && answer.status < 500 && !/content-length/i.test(firstHead(bytes))) {
          assert.equal(answer.body, bytes.toString('latin1').slice(firstHead(bytes).length + 4), received);
        } else {
          assertFailed(outcome);
        }
        break;
      case 'either':
        if (answer !== undefined) assert.ok(answer.status < 500 || answer.status === 502, received);
        break;
    }
  });
}

test('body bytes in an answer to HEAD do not reach the visitor', async () => {
  const { received } = await visit('HEAD', Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc'));
  assert.match(received, /^HTTP\/1\.1 200/);
  assert.ok(received.endsWith('\r\n\r\n'), received);
});

test('no connection to a workload is used again after a hostile answer', async () => {
  for (const item of cases.filter(
    ({ name, expected }) => expected === 'reject' && !name.startsWith('invalid.md:179'),
  )) {
    const before = connections;
    await visit('GET', Buffer.from(item.raw, 'base64'));
    assert.equal(connections, before + 1, item.name);
  }
});

test('bytes that a workload sends on an idle connection are discarded with the connection', async () => {
  raw = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood');
  const chatty = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood');
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
    });
  });
  const other = await startGatewayUnderTest('http://127.0.0.1:9');
  chatty.listen(other.socketPath);
  await once(chatty, 'listening');
  for (let round = 0; round < 5; round += 1) {
    const visitor = await openRaw(other.inboundPort, 'GET / HTTP/1.1\r\nHost: n\r\nConnection: close\r\n\r\n');
    await visitor.closed();
    assert.equal(visitor.answers()[0]?.body, 'good');
  }
  await other.close();
  chatty.close();
});
