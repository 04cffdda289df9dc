// The public side of a node with a real backend: who may bring requests, which of them pass, and what wakes the backend.
// The tests stand in for the Ingress.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Assignment, CLIENT_ADDRESS, CLIENT_PROTOCOL } from '@platform/contract';
import { until } from '../../../../tests/support/wait.ts';
import { handshake, SWITCHING } from '../../../http/test-support/handshakes.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import { makeAssignment } from '../../test-support/core-double.ts';
import { type CallOptions, request, startTestNode, type TestNode } from '../../test-support/node.ts';

const BACKEND = `
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((req, res) => {
    if (req.url === '/feed/endless') return void res.writeHead(200).write('begun');
    res.setHeader('content-security-policy', "default-src 'self'");
    res.setHeader('set-cookie', 'a=b');
    res.end(JSON.stringify({ app: process.env.PLATFORM_APP_ORIGIN, url: req.url, headers: req.headers }));
  });
  server.on('upgrade', (req, socket) => {
    socket.write(${SWITCHING});
    socket.pipe(socket);
  });
  setTimeout(() => server.listen(Number(process.env.PORT)), Number(process.env.DELAY ?? 0));
`;
const ROUTES = ['GET:/', 'GET:/feed/*', 'WS:/chat'];
const CLIENT = { [CLIENT_ADDRESS]: '192.0.2.7', [CLIENT_PROTOCOL]: 'https' };

describe('the public side of a node', () => {
  let node: TestNode;
  let hash: string;
  let one: Assignment;
  let other: Assignment;
  let closed: Assignment;
  let assigned: readonly Assignment[];

  before(async () => {
    node = await startTestNode();
    hash = await node.core.publish({ 'index.mjs': BACKEND });
    one = makeAssignment(hash, { publicRoutes: ROUTES });
    other = makeAssignment(hash, { publicRoutes: ['GET:/other'] });
    closed = makeAssignment(hash);
    await assign([one, other, closed]);
  });
  after(() => node.close());

  async function assign(next: readonly Assignment[]): Promise<void> {
    assigned = next;
    node.core.assign(next);
    await applied(next);
  }

  /** Until the node has put the list into effect: it says so by asking for the next. */
  async function applied(next: readonly Assignment[]): Promise<void> {
    await until('the assignments', async () => {
      const statuses = next.map(({ installationId }) => `/installations/${installationId}/status`);
      const answers = await Promise.all(statuses.map((path) => node.core.control('GET', path)));
      return node.core.isFollowed() && answers.every(({ status }) => status === 200);
    });
  }

  const port = () => Number(new URL(node.core.publicSide().url).port);
  const hostOf = ({ gateway }: Assignment) => gateway.public?.hostname ?? '';
  const bearer = () => `Bearer ${node.core.publicSide().credential}`;

  function call(assignment: Assignment, path = '/', options: CallOptions = {}) {
    const headers = { host: `${hostOf(assignment)}:8791`, authorization: bearer(), ...CLIENT, ...options.headers };
    return request(port(), path, { ...options, headers });
  }

  function raw(assignment: Assignment, head: readonly string[], more = ''): Promise<RawConnection> {
    const fields = [
      ...[`Host: ${hostOf(assignment)}`, `Authorization: ${bearer()}`],
      ...[`${CLIENT_ADDRESS}: 192.0.2.7`, `${CLIENT_PROTOCOL}: https`],
    ];
    return openRaw(port(), [head[0], ...fields, ...head.slice(1), '', more].join('\r\n'));
  }

  const HANDSHAKE = ['GET /chat HTTP/1.1', ...handshake()];
  const code = (text: string) => JSON.parse(text).code;
  const state = async ({ installationId }: Assignment) => (await node.core.status(installationId)).state;

  test('is registered with core as an origin of the loopback interface, with a credential of its own', () => {
    const { url, credential } = node.core.publicSide();
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.match(credential, /^pni_[\w-]{43}$/);
  });

  test('refuses who does not present its credential, alike for every name and path, and wakes nothing', async () => {
    const { installationId, dataPlaneCapability } = one;
    const attempts = [undefined, 'Bearer pni_x', `Bearer ${dataPlaneCapability}`, bearer().replace('Bearer', 'Basic')];
    for (const authorization of attempts) {
      for (const [host, path] of [
        [hostOf(one), '/'],
        ['unknown.public.platform.localhost', '/none'],
      ] as const) {
        const answer = await call(one, path, { headers: { host, authorization } });
        assert.deepEqual([answer.status, code(answer.text)], [401, 'unauthenticated']);
      }
    }
    assert.equal((await node.core.status(installationId)).state, 'stopped');
  });

  test('refuses unknown names and closed routes before it wakes anything, and reaches nothing else of the node', async () => {
    const unknown = await call(one, '/', { headers: { host: 'unknown.public.platform.localhost' } });
    assert.deepEqual([unknown.status, code(unknown.text)], [421, 'unknown_host']);
    const { port: endpointPort } = { port: node.runtime.listenerPort };
    for (const host of [
      `127.0.0.1:${port()}`,
      `node.platform.localhost:${endpointPort}`,
      'node.platform.localhost:8788',
    ])
      assert.equal((await call(one, `/e/${one.endpointId}/`, { headers: { host } })).status, 421, host);
    for (const path of [
      '/none',
      `/e/${one.endpointId}/`,
      '/control/installations',
      '/other',
      '/chat',
      '/v1/services/apps',
    ])
      assert.deepEqual([path, code((await call(one, path)).text)], [path, 'not_found']);
    assert.equal(code((await call(one, '/', { method: 'POST' })).text), 'not_found');
    const upgrade = await raw(one, ['GET /feed/x HTTP/1.1', ...HANDSHAKE.slice(1)]);
    await upgrade.closed();
    assert.equal(upgrade.answers()[0]?.status, 404);
    assert.equal(await state(one), 'stopped');
  });

  test('wakes the backend of the name, and carries requests of several names over one connection', async () => {
    const line = (path: string, assignment: Assignment) => [
      ...[`GET ${path} HTTP/1.1`, `Host: ${hostOf(assignment)}`, `Authorization: ${bearer()}`],
      ...[`${CLIENT_ADDRESS}: 192.0.2.7`, `${CLIENT_PROTOCOL}: https`, '', ''],
    ];
    const connection = await openRaw(port(), line('/?a=1', one).join('\r\n'));
    for (const [count, [path, assignment]] of (
      [
        ['/other', other],
        ['/other', one],
        ['/none', other],
        ['/feed/x', one],
      ] as const
    ).entries()) {
      await connection.until(() => connection.answers().length === count + 1);
      connection.socket.write(line(path, assignment).join('\r\n'));
    }
    await connection.until(() => connection.answers().length === 5);
    connection.socket.destroy();
    const answers = connection.answers();
    assert.deepEqual(
      answers.map(({ status, body }) => [status, JSON.parse(body).app ?? JSON.parse(body).code]),
      [
        [200, one.appOrigin],
        [200, other.appOrigin],
        [404, 'not_found'],
        [404, 'not_found'],
        [200, one.appOrigin],
      ],
    );
    const { headers } = JSON.parse(answers[0]?.body ?? '');
    assert.equal(headers.host, hostOf(one));
    assert.equal(headers.forwarded, `for=192.0.2.7;host=${hostOf(one)};proto=https`);
    assert.equal(headers.authorization, undefined);
    assert.match(answers[0]?.head ?? '', /content-security-policy: default-src 'self'/i);
    assert.doesNotMatch(answers[0]?.head ?? '', /set-cookie|nosniff/i);
  });

  test('ends what is under way when the route closes, without a restart of the backend', async () => {
    const socket = await raw(one, HANDSHAKE);
    const stream = await raw(one, ['GET /feed/endless HTTP/1.1']);
    await socket.until(() => socket.received().includes('\r\n\r\n'));
    await stream.until(() => stream.received().includes('begun'));
    const { restarts } = await node.core.status(one.installationId);
    const narrower = { ...one, gateway: { revision: 2, public: { hostname: hostOf(one), routes: ['GET:/'] } } };
    await assign([narrower, other, closed]);
    await Promise.all([socket.closed(), stream.closed()]);
    assert.equal((await call(one)).status, 200);
    assert.equal(code((await call(one, '/feed/x')).text), 'not_found');
    const now = await node.core.status(one.installationId);
    assert.deepEqual([now.state, now.restarts], ['running', restarts]);
    const renamed = { ...one, gateway: { revision: 2, public: { hostname: `new-${hostOf(one)}`, routes: ROUTES } } };
    await assign([renamed, other, closed]);
    assert.equal(code((await call(one)).text), 'unknown_host');
    assert.equal((await call(renamed, '/feed/x')).status, 200);
    await assign([one, other, closed]);
  });

  test('opens and closes a backend that does not run without starting it', async () => {
    const open = {
      ...closed,
      gateway: { revision: 1, public: { hostname: `late.${hostOf(one)}`, routes: ['GET:/x'] } },
    };
    const early = call(open, '/none');
    await assign([one, other, open]);
    assert.equal(code((await early).text), 'not_found');
    await assign([one, other, closed]);
    assert.equal(code((await call(open, '/x')).text), 'unknown_host');
    assert.equal(await state(closed), 'stopped');
  });

  test('keeps a backend awake while a WebSocket of the internet is open, and counts what passes', async () => {
    const idle = makeAssignment(hash, { publicRoutes: ROUTES, workload: { idleSeconds: 60 } });
    await assign([...assigned, idle]);
    assert.equal((await call(idle)).status, 200);
    const socket = await raw(idle, HANDSHAKE);
    await socket.until(() => socket.received().includes('\r\n\r\n'));
    for (let minute = 0; minute < 5; minute += 1) node.clock.advance(60_000);
    assert.equal(await state(idle), 'running');
    socket.socket.destroy();
    // Its end is a sign of use as well, and core has no leases of it.
    await until('the backend to sleep', async () => {
      node.clock.advance(60_000);
      return (await state(idle)) === 'stopped';
    });
    await until('the figures', () => (node.core.lastHeartbeat()?.traffic?.inbound.requests ?? 0) >= 2);
    await assign(assigned.filter((item) => item !== idle));
  });

  test('tells strangers nothing of why a backend is down', async () => {
    const stopped = makeAssignment(hash, { publicRoutes: ['GET:/'], desired: 'stopped' });
    await assign([...assigned, stopped]);
    const { status, headers, text } = await call(stopped);
    assert.equal(status, 503);
    assert.ok(Number(headers['retry-after']) > 0);
    const { code: why, detail } = JSON.parse(text);
    assert.deepEqual([why, detail], ['workload_unavailable', 'The app does not answer right now. Try again later.']);
    await assign(assigned.filter((item) => item !== stopped));
  });
});
