// Requests of the internet through the Gateway: what the workload learns of the client, what of its answer passes, and that
// a policy that does not let them pass any more ends them before `apply` resolves. A plain server that accepts everybody
// stands in for the public side of the node.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_PROTOCOL, type GatewayPolicy } from '@platform/contract';
import { mayTravel } from '@platform/http';
import { CLAIMS, OWN, PLACES } from '../../../http/test-support/claims.ts';
import { handshake, switching } from '../../../http/test-support/handshakes.ts';
import { openRaw, type RawConnection } from '../../../http/test-support/raw-exchange.ts';
import {
  APP_ORIGIN,
  type Ask,
  ask,
  assertProblem,
  type GatewayUnderTest,
  openPublicDoor,
  portOf,
  startGatewayUnderTest,
  until,
} from '../../test-support/gateway-under-test.ts';
import { openByteMeter } from '../byte-meter.ts';
import { openPublicInbound } from './public.ts';
import { workloadFields } from './public-client.ts';

const HOSTNAME = 'notes--aaaabbbbccccddddeeee.public.platform.localhost';
const ROUTES = ['GET:/', 'GET:/feed/*', 'POST:/hooks/*', 'WS:/chat', 'OPTIONS:/feed/*'];
const CLIENT = { [CLIENT_ADDRESS]: '192.0.2.7', [CLIENT_PROTOCOL]: 'https' };

let tested: GatewayUnderTest;
let workload: Server;
let door: Server;
let handle: (req: IncomingMessage, res: ServerResponse) => void;
let backend: Socket | undefined;
const seen: IncomingMessage[] = [];

beforeEach(async () => {
  seen.length = 0;
  backend = undefined;
  handle = (_req, res) => void res.end('ok');
  tested = await startGatewayUnderTest('http://127.0.0.1:9', { policy: policyOf(1, ROUTES) });
  workload = createServer((req, res) => {
    seen.push(req);
    handle(req, res);
  });
  workload.on('upgrade', (req: IncomingMessage, socket: Socket) => {
    seen.push(req);
    backend = socket;
    socket.on('error', () => undefined).resume();
    socket.write(switching(req));
  });
  workload.listen(tested.socketPath);
  door = openPublicDoor(tested.gateway).listen(0, '127.0.0.1');
  await Promise.all([once(workload, 'listening'), once(door, 'listening')]);
});

afterEach(async () => {
  door.close();
  door.closeAllConnections();
  await tested.close();
  backend?.destroy();
  workload.close();
  workload.closeAllConnections();
});

function policyOf(revision: number, routes: string[], hostname = HOSTNAME): GatewayPolicy {
  return routes.length === 0 ? { revision } : { revision, public: { hostname, routes } };
}

function call(options: Ask = {}) {
  const headers = { host: `${HOSTNAME}:8791`, ...CLIENT, ...options.headers };
  return ask(portOf(door), { ...options, headers });
}

function raw(head: readonly string[], more = '', port = portOf(door)): Promise<RawConnection> {
  const fields = [`Host: ${HOSTNAME}`, `${CLIENT_ADDRESS}: 192.0.2.7`, `${CLIENT_PROTOCOL}: http`];
  return openRaw(port, [head[0], ...fields, ...head.slice(1), '', more].join('\r\n'));
}

const HANDSHAKE = ['GET /chat HTTP/1.1', ...handshake()];

describe('a public request', () => {
  test('arrives under the public name, with the client as the Ingress states it and without its credentials', async () => {
    const answer = await call({
      method: 'POST',
      path: '/hooks/x?y=%2F',
      headers: {
        ...{ authorization: 'Bearer mine', cookie: 'a=b', forwarded: 'for=10.0.0.1', 'x-forwarded-for': '10.0.0.1' },
        ...{ 'x-forwarded-host': 'evil.example', 'x-real-ip': '10.0.0.1', 'platform-public': '0', 'x-mine': 'kept' },
        ...{ 'x-http-method-override': 'DELETE', 'X-Method-Override': 'PUT', 'x-http-method': 'PATCH' },
        ...{ 'platform-trigger': 'schedule', x_forwarded_for: '10.0.0.1', origin: 'https://other.example' },
      },
      body: 'text',
    });
    assert.equal(answer.body, 'ok');
    const [request] = seen;
    assert.equal(request?.url, '/hooks/x?y=%2F');
    const { connection: _, ...headers } = request?.headers ?? {};
    assert.deepEqual(headers, {
      host: HOSTNAME,
      forwarded: `for=192.0.2.7;host=${HOSTNAME};proto=https`,
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': HOSTNAME,
      'platform-public': '1',
      origin: 'https://other.example',
      'x-mine': 'kept',
      'content-length': '4',
    });
  });

  test('says nothing that only a proxy in front could know, and no other place or method than its own', async () => {
    const claims = [...CLAIMS, ...PLACES].flatMap((name) => [name, name.toUpperCase(), name.replaceAll('-', '_')]);
    for (const name of claims) {
      seen.length = 0;
      await call({ headers: { [name]: 'evil-6.6.6.6' } });
      assert.ok(!JSON.stringify(seen[0]?.rawHeaders).includes('evil'), name);
    }
    for (const name of OWN.filter((one) => mayTravel(one) && !/^(?:content-type|range|sec-websocket)/i.test(one))) {
      seen.length = 0;
      await call({ headers: { [name]: 'own-1' } });
      assert.equal(seen[0]?.headers[name.toLowerCase()], 'own-1', name);
    }
  });

  test('that the app answers with 421 says to the Ingress whose word that is', async () => {
    handle = (_req, res) => void res.writeHead(421, { 'platform-answered-by': 'platform' }).end();
    assert.equal((await call()).headers['platform-answered-by'], 'workload');
    handle = (_req, res) => void res.writeHead(200, { 'platform-answered-by': 'platform' }).end();
    assert.equal((await call()).headers['platform-answered-by'], undefined);
    const unknown = await call({ headers: { host: 'other.example' } });
    assert.deepEqual([unknown.status, unknown.headers['platform-answered-by']], [421, undefined]);
  });

  const addresses: readonly (readonly [string, string, string])[] = [
    ['2001:db8::7', '"[2001:db8::7]"', '2001:db8::7'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.7'],
    ['fe80::1%eth0', '"[fe80::1]"', 'fe80::1'],
  ];
  for (const [stated, forwarded, plain] of addresses) {
    test(`of ${stated} says so as RFC 7239 has it`, async () => {
      await call({ headers: { [CLIENT_ADDRESS]: stated } });
      assert.equal(seen[0]?.headers.forwarded, `for=${forwarded};host=${HOSTNAME};proto=https`);
      assert.equal(seen[0]?.headers['x-forwarded-for'], plain);
    });
  }

  const unclear: readonly Record<string, string | string[]>[] = [
    { [CLIENT_ADDRESS]: '' },
    { [CLIENT_ADDRESS]: '192.0.2.7:80' },
    { [CLIENT_ADDRESS]: '192.0.2.7", for=10.0.0.1' },
    { [CLIENT_ADDRESS]: ['192.0.2.7', '10.0.0.1'] },
    { [CLIENT_PROTOCOL]: 'gopher' },
  ];
  for (const headers of unclear) {
    test(`with ${JSON.stringify(headers)} is refused: nobody stands behind it`, async () => {
      assertProblem(await call({ headers }), 400, 'invalid_request');
      assert.equal(seen.length, 0);
    });
  }

  test('is refused for another name, and where no route matches, without a word to the workload', async () => {
    for (const host of ['evil.example', new URL(APP_ORIGIN).host, `x.${HOSTNAME}`, `${HOSTNAME}.`])
      assertProblem(await call({ headers: { host } }), 421, 'unknown_host');
    const missing: readonly Ask[] = [
      ...[{ path: '/other' }, { path: '/', method: 'POST' }, { path: '/hooks/x' }, { path: '/feedx' }],
      ...[
        { path: '/chat' },
        { path: '/', method: 'OPTIONS' },
        { path: '/v1/services/apps' },
        { path: '/e/endpoint1/' },
      ],
    ];
    for (const one of missing) assertProblem(await call(one), 404, 'not_found');
    assert.equal(seen.length, 0);
    assert.equal(tested.activity(), 0);
  });

  test('passes under its name in any case and with any port, and HEAD rides on GET', async () => {
    assert.equal((await call({ headers: { host: HOSTNAME.toUpperCase() } })).status, 200);
    assert.equal((await call({ path: '/feed', headers: { host: `${HOSTNAME}:1` } })).status, 200);
    assert.equal((await call({ path: '/feed/a', method: 'HEAD' })).status, 200);
    assert.equal((await call({ path: '/feed/a', method: 'OPTIONS' })).status, 200);
    assert.deepEqual(
      seen.map(({ headers }) => headers.host),
      [HOSTNAME, HOSTNAME, HOSTNAME, HOSTNAME],
    );
  });

  test('gets what the app says for its own origin, and nothing that reaches beyond it', async () => {
    const own = {
      'content-security-policy': "default-src 'self'",
      'access-control-allow-origin': 'https://other.example',
      'cross-origin-opener-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'permissions-policy': 'camera=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'service-worker-allowed': '/',
      'reporting-endpoints': 'x="/reports"',
      etag: '"1"',
      vary: 'Origin',
    };
    handle = (_req, res) => {
      for (const name of [
        ...['Set-Cookie', 'Set-Cookie2', 'Clear-Site-Data', 'Strict-Transport-Security', 'Alt-Svc', 'NEL'],
        ...['WWW-Authenticate', 'Authentication-Info', 'Proxy-Authenticate', 'X-Accel-Redirect', 'X-Sendfile'],
        ...['Platform-Public', 'Platform-Answered-By', 'X-Platform-Account', 'X-Forwarded-Host', 'Forwarded', 'Via'],
        ...['X-Request-Id', 'Keep-Alive', 'Upgrade', 'X-Named', 'Set-Login', 'Observe-Browsing-Topics'],
        ...['Attribution-Reporting-Register-Source', 'Ad-Auction-Allowed', 'Sec-Session-Registration'],
      ])
        res.setHeader(name, 'hostile');
      res.setHeader('Connection', 'close, X-Named');
      for (const [name, value] of Object.entries(own)) res.setHeader(name, value);
      res.writeHead(203).end('ok');
    };
    const answer = await call();
    assert.equal(answer.status, 203);
    const { connection: _, date: __, 'transfer-encoding': ___, ...headers } = answer.headers;
    assert.deepEqual(headers, own);
  });

  test('gets no length with an answer that has no body', async () => {
    handle = (_req, res) => void res.socket?.end('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello');
    const { status, headers } = await call();
    assert.deepEqual([status, headers['content-length']], [204, undefined]);
  });

  test('counts as activity and traffic', async () => {
    await call();
    await until(() => tested.activity() === 2);
    assert.equal(tested.gateway.traffic().inbound.requests, 1);
    assert.ok(tested.gateway.traffic().inbound.sentBytes > 0);
  });
});

test('a WebSocket ends after a silence in both directions, and not before', async (t) => {
  const inbound = openPublicInbound({
    to: { socketPath: tested.socketPath },
    policy: policyOf(1, ROUTES).public,
    clientFields: workloadFields,
    headersTimeout: 10_000,
    meter: openByteMeter(),
    onFailure: (failure) => assert.fail(failure.reason),
    webSocketIdle: 100,
  });
  const other = openPublicDoor({
    forwardPublic: () => assert.fail(),
    forwardPublicUpgrade: (incoming) => inbound.forwardUpgrade(incoming),
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(async () => {
    other.close();
    await inbound.close();
  });
  const connection = await raw(HANDSHAKE, '', portOf(other));
  await connection.until(() => connection.received().includes('\r\n\r\n'));
  const last = performance.now();
  connection.socket.write('x');
  await connection.closed();
  assert.ok(performance.now() - last >= 99);
});

describe('a policy that closes a route', () => {
  const changes: Readonly<Record<string, GatewayPolicy>> = {
    'without the route': policyOf(2, ['GET:/']),
    'without any': policyOf(2, []),
    'under another name': policyOf(1, ROUTES, `notes--zzzz.public.platform.localhost`),
  };
  for (const [name, policy] of Object.entries(changes)) {
    test(`ends an open WebSocket: ${name}`, async () => {
      const connection = await raw(HANDSHAKE);
      await connection.until(() => connection.received().includes('\r\n\r\n'));
      assert.equal(tested.gateway.activeRequests(), 1);
      const gone = once(backend as Socket, 'end');
      await tested.gateway.apply(policy);
      await Promise.all([connection.closed(), gone]);
      await until(() => tested.gateway.activeRequests() === 0);
    });

    test(`ends a download whose client has stopped reading: ${name}`, async () => {
      const piece = Buffer.alloc(1024 * 1024, 'x');
      const gone = Promise.withResolvers<void>();
      handle = (_req, res) => {
        res.on('close', gone.resolve);
        const push = () => {
          while (!res.destroyed) if (!res.write(piece)) return void res.once('drain', push);
        };
        push();
      };
      const connection = await raw(['GET /feed/long HTTP/1.1']);
      connection.socket.pause();
      await untilStill(() => tested.gateway.traffic().inbound.sentBytes);
      await tested.gateway.apply(policy);
      await gone.promise;
      connection.socket.resume();
      await connection.closed();
      assert.equal(connection.answers().length, 0);
      await until(() => tested.gateway.activeRequests() === 0);
    });

    test(`ends an upload whose client has stopped sending: ${name}`, async () => {
      const gone = Promise.withResolvers<void>();
      handle = (req) => {
        req.resume();
        req.on('error', () => gone.resolve());
      };
      const connection = await raw(['POST /hooks/long HTTP/1.1', 'Content-Length: 100000000'], 'some of it');
      await until(() => seen.length === 1);
      await tested.gateway.apply(policy);
      await gone.promise;
      await connection.until(() => connection.answers().length === 1);
      const { status } = connection.answers()[0] ?? {};
      assert.ok(status === 404 || status === 421);
      connection.socket.destroy();
    });
  }

  test('leaves alone what it still lets pass, under the same name', async () => {
    const connection = await raw(HANDSHAKE);
    await connection.until(() => connection.received().includes('\r\n\r\n'));
    await tested.gateway.apply(policyOf(2, ['WS:/chat']));
    assert.equal(tested.gateway.activeRequests(), 1);
    const head = connection.received().length;
    backend?.write('hello');
    await connection.until(() => connection.received().length > head);
    assertProblem(await call(), 404, 'not_found');
    connection.socket.destroy();
  });

  test('does not end what the app’s own pages have under way', async () => {
    handle = (_req, res) => void res.writeHead(200).write('begun');
    const connection = await openRaw(tested.inboundPort, 'GET /feed/own HTTP/1.1\r\nHost: n\r\n\r\n');
    await connection.until(() => connection.received().includes('begun'));
    await tested.gateway.apply(policyOf(2, []));
    assert.equal(tested.gateway.activeRequests(), 1);
    connection.socket.destroy();
  });

  test('an older one opens nothing again', async () => {
    await tested.gateway.apply(policyOf(3, []));
    await tested.gateway.apply(policyOf(2, ROUTES));
    assertProblem(await call(), 421, 'unknown_host');
  });
});

/** Resolves once the figure has stopped growing for many turns. */
async function untilStill(figure: () => number): Promise<void> {
  let last = -1;
  for (let still = 0; still < 2_000; still = figure() === last ? still + 1 : 0) {
    last = figure();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
