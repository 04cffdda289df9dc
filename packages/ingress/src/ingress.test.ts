// Public requests through an Ingress: what arrives at the node, what is refused before, and what becomes of both when the
// topology changes. Core and node are stand-ins of the test.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
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
} from '../test-support/ingress-under-test.ts';

let tested: UnderTest;
const connections: RawConnection[] = [];

beforeEach(async () => {
  tested = await startUnderTest();
});

afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  await tested.close();
});

async function raw(lines: readonly string[], body = ''): Promise<RawConnection> {
  const connection = await openRaw(tested.port, `${lines.join('\r\n')}\r\n\r\n${body}`);
  connections.push(connection);
  return connection;
}

/** One request on a connection of its own. */
async function ask(target: string, fields: readonly string[] = [], body = ''): Promise<RawAnswer> {
  const hosts = fields.some((field) => /^host:/i.test(field)) ? [] : [`Host: ${HOSTNAME}:8791`];
  const connection = await raw([`${target} HTTP/1.1`, ...hosts, 'Connection: close', ...fields], body);
  await connection.until(() => connection.answers().length === 1);
  const [answer] = connection.answers();
  assert.ok(answer !== undefined, connection.received());
  return answer;
}

/** Of the answers to a request with these fields on a route that is open for GET, and to one behind it in one packet. */
async function statusesBehind(fields: readonly string[]): Promise<number[]> {
  const line = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${HOSTNAME}`;
  const connection = await raw([line('/feed/a'), ...fields], `${line('/feed/smuggled')}\r\n\r\n`);
  await connection.closed();
  return connection.answers().map(({ status }) => status);
}

function codeOf({ body }: RawAnswer): string {
  return (JSON.parse(body) as { code: string }).code;
}

/** Lets the node accept WebSockets. @returns its ends of them */
function acceptWebSockets(): Socket[] {
  const accepted: Socket[] = [];
  tested.node.server.on('upgrade', (req, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.write(switching(req));
    accepted.push(socket);
  });
  return accepted;
}

async function openWebSocket(): Promise<RawConnection> {
  const connection = await raw(['GET /chat HTTP/1.1', `Host: ${HOSTNAME}`, ...handshake()]);
  await connection.until(() => connection.received().includes('\r\n\r\n'));
  assert.match(connection.received(), /^HTTP\/1\.1 101 /);
  return connection;
}

describe('a public request', () => {
  test('arrives with method, path and query as sent, under its public name, the word of the Ingress, and nothing of the client’s authority', async () => {
    const seen: IncomingMessage[] = [];
    tested.node.handle = (req, res) => {
      seen.push(req);
      req.resume().on('end', () => res.writeHead(201, { 'X-Mine': 'kept', 'Set-Cookie': 'a=b' }).end('made'));
    };
    const answer = await ask(
      'POST /hooks/%7Ex?y=%2F',
      [
        ...[
          'Content-Length: 4',
          'X-Mine: kept',
          'Authorization: Bearer mine',
          'Cookie: a=b',
          'Forwarded: for=10.0.0.1',
        ],
        ...[
          'X-Forwarded-For: 10.0.0.1',
          `${CLIENT_ADDRESS}: 10.0.0.1`,
          `${CLIENT_PROTOCOL}: https`,
          'X-Real-Ip: 10.0.0.1',
        ],
        ...['Platform-Public: 0', 'Origin: https://other.example'],
      ],
      'text',
    );
    assert.equal(answer.status, 201);
    assert.equal(answer.body, 'made');
    assert.match(answer.head, /x-mine: kept/i);
    assert.doesNotMatch(answer.head, /set-cookie/i);
    assert.match(answer.head, /x-request-id: [\w-]{36}/i);
    const [request] = seen;
    assert.equal(request?.url, '/hooks/%7Ex?y=%2F');
    const { connection: _, ...headers } = request?.headers ?? {};
    assert.deepEqual(headers, {
      host: HOSTNAME,
      authorization: `Bearer ${tested.node.entry().credential}`,
      [CLIENT_ADDRESS]: '127.0.0.1',
      [CLIENT_PROTOCOL]: 'http',
      origin: 'https://other.example',
      'x-mine': 'kept',
      'content-length': '4',
    });
  });

  test('of another name is 421, of another path, method or kind 404, alike whatever the reason', async () => {
    for (const host of ['evil.example', `x.${HOSTNAME}`, `${HOSTNAME}.`, '127.0.0.1']) {
      const answer = await ask('GET /', [`Host: ${host}`]);
      assert.deepEqual([answer.status, codeOf(answer)], [421, 'unknown_host'], host);
    }
    const missing = ['GET /other', 'POST /', 'GET /chat', 'OPTIONS /', 'GET /feedx', 'GET /hooks/x', 'DELETE /feed/a'];
    for (const target of missing) {
      const answer = await ask(target);
      assert.deepEqual([answer.status, codeOf(answer)], [404, 'not_found'], target);
    }
    assert.equal(tested.node.sockets.size, 0);
  });

  test('gets the 421 that its app answers, and not the one that a node answers', async () => {
    tested.node.handle = (_req, res) => void res.writeHead(421, { 'Platform-Answered-By': 'workload' }).end('mine');
    const own = await ask('GET /feed/a');
    assert.deepEqual([own.status, own.body], [421, 'mine']);
    assert.doesNotMatch(own.head, /answered-by/i);
    tested.node.handle = (_req, res) => void res.writeHead(421).end("the node's");
    assert.equal((await ask('GET /feed/a')).status, 503);
  });

  test('passes under its name in any case and with any port; HEAD rides on GET', async () => {
    for (const host of [HOSTNAME, HOSTNAME.toUpperCase(), `${HOSTNAME}:1`])
      assert.equal((await ask('GET /feed/a', [`Host: ${host}`])).status, 200, host);
    assert.equal((await ask('HEAD /feed')).status, 200);
  });

  test('with an upgrade where only GET is open is 404 for a handshake and else served as a plain one, and what came with it is no request', async () => {
    assert.deepEqual(await statusesBehind(handshake()), [404]);
    assert.deepEqual(await statusesBehind(handshake({ 'Sec-WebSocket-Key': null })), [200], 'a faulty handshake');
    assert.deepEqual(await statusesBehind(['Connection: Upgrade', 'Upgrade: h2c']), [200]);
  });

  test('that the node fails before it answers is 502, and one that it does not accept 503 for a moment', async () => {
    tested.node.handle = (req) => req.socket.destroy();
    const failed = await ask('GET /');
    assert.deepEqual([failed.status, codeOf(failed)], [502, 'upstream_failed']);
    for (const refused of [421, 401]) {
      tested.node.handle = (_req, res) => void res.writeHead(refused, { 'WWW-Authenticate': 'Bearer' }).end('secret');
      const answer = await ask('GET /');
      assert.deepEqual([answer.status, codeOf(answer)], [503, 'workload_unavailable']);
      assert.match(answer.head, /retry-after: \d/i);
    }
  });

  test('whose node is not there is 503 with Retry-After; it passes again once the node is back elsewhere', async () => {
    const gone = { ...tested.node.entry(), url: 'http://127.0.0.1:9' };
    await tested.core.confirmed(tested.core.say({ kind: 'nodes', items: [gone], gone: [] }));
    const answer = await ask('GET /');
    assert.deepEqual([answer.status, codeOf(answer)], [503, 'workload_unavailable']);
    assert.match(answer.head, /retry-after: \d/i);
    await tested.core.confirmed(tested.core.say({ kind: 'nodes', items: [tested.node.entry()], gone: [] }));
    assert.equal((await ask('GET /')).status, 200);
    await tested.core.confirmed(
      tested.core.say({ kind: 'routes', items: [routeOf(ROUTES, { nodeId: null })], gone: [] }),
    );
    assert.equal((await ask('GET /')).status, 503);
  });
});

describe('a WebSocket', () => {
  test('passes bytes both ways after a valid handshake on its route, and no faulty handshake does', async () => {
    const [accepted] = [acceptWebSockets()];
    const connection = await openWebSocket();
    const [end] = accepted;
    assert.ok(end !== undefined);
    connection.socket.write('to the app');
    const [bytes] = (await once(end, 'data')) as [Buffer];
    assert.equal(bytes.toString(), 'to the app');
    end.write('from the app');
    await connection.until(() => connection.received().endsWith('from the app'));
    const faulty = await ask('GET /chat', handshake({ 'Sec-WebSocket-Version': '12' }));
    assert.equal(faulty.status, 400);
    assert.equal(accepted.length, 1);
  });
});

describe('an Ingress that stops', () => {
  test('says so to WebSockets where a frame may begin, ends the others, and lets requests under way come to their end', async () => {
    const accepted = acceptWebSockets();
    const idle = await openWebSocket();
    const within = await openWebSocket();
    const frame = Buffer.from([0x81, 5, ...Buffer.from('Hello')]);
    accepted[0]?.write(Buffer.concat([frame, frame]));
    accepted[1]?.write(frame.subarray(0, 4));
    await idle.until(() => idle.received().endsWith('Hello'));
    await within.until(() => within.received().endsWith('He'));
    const held = Promise.withResolvers<ServerResponse>();
    tested.node.handle = (_req, res) => held.resolve(res);
    const request = await raw(['GET / HTTP/1.1', `Host: ${HOSTNAME}`]);
    const res = await held.promise;
    const stopped = tested.ingress.stop();
    await Promise.all([idle.closed(), within.closed()]);
    assert.ok(idle.received().endsWith('Hello\x88\x02\x03\xe9'));
    assert.ok(within.received().endsWith('He'));
    res.end('in the end');
    await Promise.all([stopped, request.closed()]);
    assert.equal(request.answers()[0]?.body, 'in the end');
  });
});

describe('a change of the topology', () => {
  test('that closes a route has ended its WebSockets and downloads before the Ingress confirms it', async () => {
    acceptWebSockets();
    tested.node.handle = (_req, res) => void res.writeHead(200).write('begun');
    const socket = await openWebSocket();
    const download = await raw(['GET /feed/long HTTP/1.1', `Host: ${HOSTNAME}`]);
    await download.until(() => download.received().includes('begun'));
    const kept = await raw(['GET / HTTP/1.1', `Host: ${HOSTNAME}`]);
    await kept.until(() => kept.received().includes('begun'));
    await tested.core.confirmed(tested.core.say({ kind: 'routes', items: [routeOf(['GET:/'])], gone: [] }));
    await Promise.all([socket.closed(), download.closed()]);
    assert.equal(kept.isClosed(), false);
    assert.equal((await ask('GET /feed/a')).status, 404);
    await tested.core.confirmed(tested.core.say({ kind: 'routes', items: [], gone: [HOSTNAME] }));
    await kept.closed();
    assert.equal((await ask('GET /')).status, 421);
  });

  test('that takes away a name or a route answers what waits for its node as it answers the next request', async () => {
    const { core, node } = tested;
    for (const [lines, status] of [
      [{ kind: 'routes', items: [routeOf(['GET:/feed'])], gone: [] }, 404],
      [{ kind: 'routes', items: [], gone: [HOSTNAME] }, 421],
    ] as const) {
      await core.confirmed(core.say({ kind: 'routes', items: [routeOf(ROUTES)], gone: [] }));
      const arrived = Promise.withResolvers<void>();
      node.handle = () => arrived.resolve();
      const waiting = ask('GET /');
      await arrived.promise;
      core.say({ ...lines, items: [...lines.items], gone: [...lines.gone] });
      assert.deepEqual([(await waiting).status, (await ask('GET /')).status], [status, status]);
    }
  });

  test('of which the node has heard first gives the same answer', async () => {
    const { core, node } = tested;
    node.handle = (_req, res) => {
      res.writeHead(421).end();
      core.say({ kind: 'routes', items: [], gone: [HOSTNAME] });
    };
    const answer = await ask('GET /');
    assert.deepEqual([answer.status, codeOf(answer)], [421, 'unknown_host']);
  });

  test('reaches a request whose short body is still arriving', async () => {
    const { core } = tested;
    const upload = await raw(['POST /hooks/x HTTP/1.1', `Host: ${HOSTNAME}`, 'Content-Length: 9'], 'begun');
    await core.confirmed(core.say({ kind: 'routes', items: [], gone: [HOSTNAME] }));
    await upload.until(() => upload.answers().length === 1);
    assert.equal(upload.answers()[0]?.status, 421);
  });

  test('that gives a name to another installation ends what was under way to the former one', async () => {
    acceptWebSockets();
    const socket = await openWebSocket();
    const item = routeOf(ROUTES, { installationId: OTHER_INSTALLATION });
    await tested.core.confirmed(tested.core.say({ kind: 'routes', items: [item], gone: [] }));
    await socket.closed();
  });

  test('takes effect with its `current` line only, all at once', async () => {
    const { core } = tested;
    core.raw(
      `${JSON.stringify({ kind: 'routes', items: [routeOf(['GET:/x'], { hostname: OTHER })], gone: [HOSTNAME] })}\n`,
    );
    assert.equal((await ask('GET /')).status, 200);
    await core.confirmed(core.say());
    assert.equal((await ask('GET /')).status, 421);
  });

  test('comes after the stream was cut, from where it stopped; of a core with another past the whole', async () => {
    const { core, node } = tested;
    core.cut();
    await core.until(() => core.streams.length === 2);
    assert.deepEqual(core.streams, [null, '1']);
    await core.confirmed(core.say({ kind: 'routes', items: [], gone: [HOSTNAME] }));
    assert.equal((await ask('GET /')).status, 421);
    const whole = { kind: 'nodes' as const, items: [node.entry()], gone: [] };
    core.restart(whole, { kind: 'routes', items: [routeOf(ROUTES, { hostname: OTHER })], gone: [] });
    await core.confirmed('3');
    assert.equal((await ask('GET /', [`Host: ${OTHER}`])).status, 200);
    assert.equal((await ask('GET /')).status, 421);
  });

  test('is refused as a whole where a line is none, and the stream begins again', async () => {
    const { core } = tested;
    core.raw('{"kind":"routes","items":[{}],"gone":[]}\n{"kind":"current","revision":"9"}\n');
    await core.until(() => core.streams.length === 2);
    assert.equal(core.applied.includes('9'), false);
    assert.equal((await ask('GET /')).status, 200);
  });
});

test('what came to a name is reported when the Ingress ends, at the latest', async () => {
  await ask('GET /');
  await ask('GET /other');
  await tested.ingress.stop();
  const items = tested.core.reports.flatMap((report) => report.items);
  assert.deepEqual(items, [{ hostname: HOSTNAME, requests: 1, refused: { not_found: 1 } }]);
});

test('the access log says what the client of each request and each WebSocket was answered', async () => {
  await tested.close();
  const folder = mkdtempSync(path.join(tmpdir(), 'access-log-'));
  const file = path.join(folder, 'access.log');
  tested = await startUnderTest({ accessLog: { file } });
  tested.node.server.on('upgrade', (_req, socket: Socket) =>
    socket.end('HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n'),
  );
  await ask('GET /feed/a?secret');
  await ask('GET /other');
  await ask('GET /feed', handshake());
  await ask('GET /chat', handshake());
  tested.node.server.removeAllListeners('upgrade');
  acceptWebSockets();
  (await openWebSocket()).socket.destroy();
  await tested.ingress.stop();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  rmSync(folder, { recursive: true });
  // Each is logged when its connection or its answer is over, in no order.
  const logged = lines.map((line) => JSON.parse(line)).map(({ path, status, refused = '' }) => [path, status, refused]);
  assert.deepEqual(logged.map((one) => one.join(' ')).sort(), [
    '/chat 101 ',
    '/chat 503 workload_unavailable',
    '/feed 404 not_found',
    '/feed/a 200 ',
    '/other 404 not_found',
  ]);
});
