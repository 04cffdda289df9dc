// What strangers may take of an Ingress, and that one who takes all of it harms nobody else. Core and node are stand-ins.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, test } from 'node:test';
import { handshake, switching } from '../../http/test-support/handshakes.ts';
import { openRaw, type RawAnswer, type RawConnection } from '../../http/test-support/raw-exchange.ts';
import {
  HOSTNAME,
  OTHER,
  OTHER_INSTALLATION,
  ROUTES,
  routeOf,
  startUnderTest,
  type UnderTest,
  type UnderTestOptions,
} from '../test-support/ingress-under-test.ts';

let tested: UnderTest;
const connections: RawConnection[] = [];

afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  await tested.close();
});

/** With two apps on one node, behind a proxy that says who the clients are. */
async function start(limits: UnderTestOptions['limits'], more: UnderTestOptions = {}): Promise<void> {
  tested = await startUnderTest({
    trustedProxies: ['127.0.0.1'],
    limits,
    lines: (node) => [
      { kind: 'nodes', items: [node], gone: [] },
      {
        kind: 'routes',
        items: [routeOf(ROUTES), routeOf(ROUTES, { hostname: OTHER, installationId: OTHER_INSTALLATION })],
        gone: [],
      },
    ],
    ...more,
  });
}

interface Asked {
  readonly host?: string;
  readonly client?: string;
  readonly fields?: readonly string[];
  readonly body?: string;
}

async function begin(target: string, { host = HOSTNAME, client = '192.0.2.1', fields = [], body = '' }: Asked = {}) {
  const lines = [`${target} HTTP/1.1`, `Host: ${host}`, `X-Forwarded-For: ${client}`, ...fields];
  const connection = await openRaw(tested.port, `${lines.join('\r\n')}\r\n\r\n${body}`);
  connections.push(connection);
  return connection;
}

async function answerOf(connection: RawConnection): Promise<RawAnswer> {
  await connection.until(() => connection.answers().length === 1);
  const [answer] = connection.answers();
  assert.ok(answer !== undefined, connection.received());
  return answer;
}

const ask = async (target: string, asked: Asked = {}): Promise<RawAnswer> => answerOf(await begin(target, asked));
const codeOf = ({ body }: RawAnswer) => (JSON.parse(body) as { code: string }).code;

/** A node that answers when the test lets it. */
function holding() {
  const held: { req: IncomingMessage; res: ServerResponse }[] = [];
  const arrivals: (() => void)[] = [];
  tested.node.handle = (req, res) => {
    held.push({ req, res });
    for (const arrived of arrivals.splice(0)) arrived();
  };
  return {
    held,
    async count(wanted: number): Promise<void> {
      while (held.length < wanted) await new Promise<void>((resolve) => arrivals.push(resolve));
    },
  };
}

test('a client above its rate is 429 with Retry-After; its network is one client, other clients and apps are others', async () => {
  await start({ rate: 1, burst: 2 });
  const client = '2001:db8::1';
  assert.equal((await ask('GET /', { client })).status, 200);
  assert.equal((await ask('GET /other', { client })).status, 404);
  const refused = await ask('GET /', { client: '2001:db8::ffff' });
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'rate_limited']);
  assert.match(refused.head, /\r\nretry-after: 1/i);
  assert.equal((await ask('GET /', { client: '2001:db8:0:1::1' })).status, 200);
  assert.equal((await ask('GET /', { client, host: OTHER })).status, 200);
});

test('an installation has so many requests under way and no more; each that ends makes room, others are not touched', async () => {
  await start({ concurrency: 2 });
  const node = holding();
  const first = await begin('GET /');
  const second = await begin('GET /feed/a');
  await node.count(2);
  const refused = await ask('GET /', { client: '192.0.2.9' });
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'concurrency_limited']);
  assert.match(refused.head, /\r\nretry-after: \d/i);
  const other = await begin('GET /', { host: OTHER });
  await node.count(3);
  node.held[0]?.res.end('done');
  assert.equal((await answerOf(first)).status, 200);
  // One that is left by its client ends as well.
  second.socket.destroy();
  await once(node.held[1]?.res ?? assert.fail(), 'close');
  const third = await begin('GET /');
  const fourth = await begin('GET /');
  await node.count(5);
  for (const { res } of node.held.slice(2)) res.end('done');
  for (const one of [other, third, fourth]) assert.equal((await answerOf(one)).status, 200);
});

test('one client takes no more than a part of what an installation may have under way', async () => {
  await start({ concurrency: 40 });
  const node = holding();
  const own = await Promise.all(Array.from({ length: 10 }, () => begin('GET /')));
  await node.count(10);
  const refused = await ask('GET /');
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'concurrency_limited']);
  const other = await begin('GET /', { client: '192.0.2.9' });
  await node.count(11);
  for (const { res } of node.held) res.end('done');
  for (const one of [...own, other]) assert.equal((await answerOf(one)).status, 200);
});

test('short bodies that arrive slowly take no place of their installation', async () => {
  await start({ concurrency: 1 });
  const slow: RawConnection[] = [];
  for (let index = 0; index < 5; index += 1)
    slow.push(await begin('POST /hooks/x', { fields: ['Content-Length: 10'], body: 'some' }));
  assert.equal((await ask('GET /')).status, 200);
  slow[0]?.socket.write('123456');
  assert.equal((await answerOf(slow[0] ?? assert.fail())).status, 200);
});

test('a body over the limit is 413: a declared one before it is read, a chunked one as soon as it is too long', async () => {
  await start({ bodyBytes: 100_000 });
  const node = holding();
  const declared = await ask('POST /hooks/x', { fields: ['Content-Length: 100001'] });
  assert.deepEqual([declared.status, codeOf(declared)], [413, 'payload_too_large']);
  assert.equal(node.held.length, 0);
  const chunked = await begin('POST /hooks/x', { fields: ['Transfer-Encoding: chunked'] });
  const piece = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
  for (let sent = 0; sent < 4; sent += 1) chunked.socket.write(piece);
  const answer = await answerOf(chunked);
  assert.deepEqual([answer.status, codeOf(answer)], [413, 'payload_too_large']);
  const exact = await begin('POST /hooks/x', { fields: ['Content-Length: 100000'], body: 'x'.repeat(100_000) });
  tested.node.handle = (req, res) => void req.resume().on('end', () => res.end('ok'));
  assert.equal((await answerOf(exact)).status, 200);
});

test('a head over the limit, in bytes or fields, is 431; trailers without end close the connection', async () => {
  await start({ headBytes: 8 * 1_024 });
  const large = await ask('GET /', { fields: [`X-Large: ${'x'.repeat(9_000)}`] });
  assert.deepEqual([large.status, codeOf(large)], [431, 'head_too_large']);
  assert.match(large.body, /larger than 8 KiB/);
  const many = await ask('GET /', { fields: Array.from({ length: 100 }, (_, index) => `X-${index}: x`) });
  assert.deepEqual([many.status, codeOf(many)], [431, 'head_too_large']);
  tested.node.handle = (req, res) => void req.resume().on('end', () => res.end('ok'));
  const trailers = await begin('POST /hooks/x', { fields: ['Transfer-Encoding: chunked'], body: '1\r\nx\r\n0\r\n' });
  trailers.socket.write(`X-Trailer: ${'x'.repeat(9_000)}\r\n`);
  await trailers.closed();
  assert.equal(
    trailers.answers().some(({ status }) => status === 200),
    false,
  );
});

test('the answer to too many cookies makes the browser delete them, and says why', async () => {
  await start({});
  const cookies = Array.from({ length: 150 }, (_, index) => `c${index}=${'x'.repeat(3_900)}`).join('; ');
  const answer = await ask('GET /', { fields: ['Accept: text/html', `Cookie: ${cookies}`] });
  assert.equal(answer.status, 431);
  assert.match(answer.head, /\r\nclear-site-data: "cookies"/i);
  assert.match(answer.body, /Your browser sent too many cookies/);
});

test('an Ingress that is cut off from core serves what it knows for a minute, then nothing, until core is back', async () => {
  let uptime = 0;
  await start({}, { uptime: () => uptime });
  tested.node.server.on('upgrade', (req, socket) => socket.write(switching(req)));
  const open = await begin('GET /chat', {
    fields: handshake(),
  });
  await open.until(() => open.received().includes('101'));
  tested.core.isDown = true;
  tested.core.cut();
  uptime = 59_000;
  assert.equal((await ask('GET /')).status, 200);
  uptime = 60_000;
  const refused = await ask('GET /');
  assert.deepEqual([refused.status, codeOf(refused)], [503, 'unavailable']);
  assert.match(refused.head, /\r\nretry-after: \d/i);
  assert.equal(codeOf(await ask('GET /', { host: 'unknown.example' })), 'unavailable');
  await open.closed();
  const { streams } = tested.core;
  const before = streams.length;
  tested.core.isDown = false;
  await tested.core.until(() => streams.length > before);
  await tested.core.confirmed(tested.core.say());
  assert.equal((await ask('GET /')).status, 200);
});

test('a client that opens answers and does not read them gives its places to others, which are answered', async () => {
  await start({ concurrency: 4 });
  const piece = Buffer.alloc(1_024 * 1_024);
  tested.node.handle = (req, res) => {
    if (req.url !== '/feed/long') {
      res.end('ok');
      return;
    }
    const push = (): void => {
      while (!res.destroyed) {
        if (res.write(piece)) continue;
        res.once('drain', push);
        return;
      }
    };
    push();
  };
  const greedy: RawConnection[] = [];
  for (let index = 0; index < 4; index += 1) {
    const connection = await begin('GET /feed/long', { client: '198.51.100.1' });
    connection.socket.pause();
    greedy.push(connection);
  }
  // Until what the kernel takes is full, they are not idle.
  for (;;) {
    const answer = await ask('GET /', { client: '192.0.2.1' });
    if (answer.status === 200) break;
    assert.equal(codeOf(answer), 'concurrency_limited');
  }
  for (const { socket } of greedy) socket.resume();
  await Promise.race(greedy.map((connection) => connection.closed()));
  assert.equal(greedy.filter((connection) => connection.isClosed()).length, 1);
});
