// What a Gateway lets through and under whose name: credential, routes, hosts and listeners.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { newEnvelopeKey } from '@platform/link';
import { openRaw } from '../../http/test-support/raw-exchange.ts';
import {
  headerValues,
  onlyRequest,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../../http/test-support/recording-upstream.ts';
import {
  ask,
  assertProblem,
  CORE_CREDENTIAL,
  CORE_HOST,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  portOf,
  startGatewayUnderTest,
} from '../test-support/gateway-under-test.ts';
import { startGateway } from './gateway.ts';

let core: RecordingUpstream;
let tested: GatewayUnderTest;

before(async () => {
  core = await startRecordingUpstream((_req, res, body) => {
    res.setHeader('x-request-id', 'req-of-core');
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ bytes: body.length }));
  });
  tested = await startGatewayUnderTest(core.origin);
});

after(async () => {
  await tested.close();
  await core.close();
});

beforeEach(() => {
  core.complete.length = 0;
});

test('a workload reaches a service under the core service credential, never its own', async () => {
  const answer = await ask(tested.port, {
    method: 'POST',
    path: '/v1/services/notifications?topic=a%2Fb&x=..%2f',
    headers: { 'content-type': 'application/json' },
    body: '{"topic":"t","title":"Hello"}',
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '{"bytes":29}');
  assert.equal(answer.headers['x-request-id'], 'req-of-core');
  const request = onlyRequest(core);
  assert.equal(request.url, '/v1/services/notifications?topic=a%2Fb&x=..%2f');
  assert.equal(request.body, '{"topic":"t","title":"Hello"}');
  assert.deepEqual(headerValues(request, 'authorization'), [`Bearer ${CORE_CREDENTIAL}`]);
  assert.deepEqual(headerValues(request, 'host'), [CORE_HOST]);
  assert.deepEqual(headerValues(request, 'content-type'), ['application/json']);
});

for (const [what, headers] of [
  ['no credential', { authorization: '' }],
  ['another credential', { authorization: 'Bearer pgw_another' }],
  ['a truncated credential', { authorization: `Bearer ${GATEWAY_CREDENTIAL.slice(0, -1)}` }],
  ['an extended credential', { authorization: `Bearer ${GATEWAY_CREDENTIAL}x` }],
  ['the credential as Basic', { authorization: `Basic ${GATEWAY_CREDENTIAL}` }],
  ['the core credential', { authorization: `Bearer ${CORE_CREDENTIAL}` }],
  ['an endless credential', { authorization: `Bearer ${'a'.repeat(8_000)}` }],
] as const) {
  test(`a caller with ${what} is refused as unauthenticated`, async () => {
    assertProblem(await ask(tested.port, { path: '/v1/services/apps', headers }), 401, 'unauthenticated');
    assert.equal(core.complete.length, 0);
  });
}

test('two Authorization headers are refused even when both are right', async () => {
  const line = `Authorization: Bearer ${GATEWAY_CREDENTIAL}\r\n`;
  const connection = await openRaw(
    tested.port,
    `GET /v1/services/apps HTTP/1.1\r\nHost: localhost:${tested.port}\r\n${line}${line}Connection: close\r\n\r\n`,
  );
  await connection.closed();
  assert.equal(connection.answers()[0]?.status, 401);
});

for (const path of [
  ...['/', '/v1/services', '/v1/servicesx/apps', '/v1/apps', '/v1/account/secrets/x', '/v1/auth/session'],
  ...['/services/apps', '/services/workflowsx', '/v1/node/assignments', '//v1/services/apps', '/V1/services/apps'],
]) {
  test(`${path} is not a service, so the Gateway knows nothing there`, async () => {
    assertProblem(await ask(tested.port, { path }), 404, 'not_found');
    assert.equal(core.complete.length, 0);
  });
}

for (const [path, expected] of [
  ['/services/workflows', '/v1/services/workflows'],
  ['/services/workflows/runs/wf-1?x=1', '/v1/services/workflows/runs/wf-1?x=1'],
  ['/services/workflows?limit=2', '/v1/services/workflows?limit=2'],
  ['/v1/services/workflows/runs', '/v1/services/workflows/runs'],
] as const) {
  test(`the workflow address ${path} is ${expected} at core`, async () => {
    assert.equal((await ask(tested.port, { path })).status, 200);
    assert.equal(onlyRequest(core).url, expected);
  });
}

test('only the host of PLATFORM_API_URL is served', async () => {
  const path = '/v1/services/apps';
  for (const host of ['evil.example', '127.0.0.1', '127.0.0.1:1', CORE_HOST, `[::1]:${tested.port}`]) {
    assertProblem(await ask(tested.port, { path, headers: { host } }), 421, 'unknown_host');
  }
  assert.equal(core.complete.length, 0);
  for (const host of [`127.0.0.1:${tested.port}`, `localhost:${tested.port}`, `LOCALHOST:${tested.port}`]) {
    assert.equal((await ask(tested.port, { path, headers: { host } })).status, 200);
  }
});

test('an absolute target is served for our own host and refused for any other', async () => {
  const own = `localhost:${tested.port}`;
  const authorized = { authorization: `Bearer ${GATEWAY_CREDENTIAL}`, host: own };
  const good = await ask(tested.port, { path: `http://${own}/v1/services/apps?a=b`, headers: authorized });
  assert.equal(good.status, 200);
  assert.equal(onlyRequest(core).url, '/v1/services/apps?a=b');
  for (const target of [
    ...['http://evil.example/v1/services/apps', `http://user@${own}/v1/services/apps`],
    ...[`http://127.0.0.1:${tested.port}/v1/services/apps`, `https://${own}/v1/services/apps`],
  ]) {
    assertProblem(await ask(tested.port, { path: target, headers: authorized }), 421, 'unknown_host');
  }
  const foreign = await ask(tested.port, { path: `ftp://${own}/`, headers: authorized });
  assertProblem(foreign, 400, 'invalid_path');
});

test('TRACE and CONNECT end with a refusal and the connection', async () => {
  const host = `Host: localhost:${tested.port}\r\nAuthorization: Bearer ${GATEWAY_CREDENTIAL}`;
  for (const [bytes, status] of [
    [`TRACE /v1/services/apps HTTP/1.1\r\n${host}\r\n\r\n`, 405],
    [`CONNECT core.test:443 HTTP/1.1\r\n${host}\r\n\r\n`, 405],
  ] as const) {
    const connection = await openRaw(tested.port, bytes);
    await connection.closed();
    assert.deepEqual(
      connection.answers().map((answer) => answer.status),
      [status],
    );
    const { head = '' } = connection.answers()[0] ?? {};
    assert.match(head, /application\/problem\+json/);
    assert.match(head, /^x-request-id: [0-9a-f-]{36}\r$/im);
    assert.match(head, /^allow: GET, HEAD, /im);
  }
  assert.equal(core.complete.length, 0);
});

test('an upgrade that no service offers is ignored: the request is served, and the upgrade goes no further', async () => {
  for (const upgrade of [
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk',
    'Connection: Upgrade\r\nUpgrade: websocket',
  ]) {
    core.complete.length = 0;
    const head = `POST /v1/services/apps HTTP/1.1\r\nHost: localhost:${tested.port}\r\nAuthorization: Bearer ${GATEWAY_CREDENTIAL}`;
    const connection = await openRaw(tested.port, `${head}\r\n${upgrade}\r\nContent-Length: 3\r\n\r\nabc`);
    await connection.until(() => connection.answers().length === 1);
    assert.equal(connection.answers()[0]?.status, 200);
    const [request] = core.complete;
    assert.equal(request?.body, 'abc');
    for (const name of ['upgrade', 'http2-settings'])
      assert.ok(!request?.rawHeaders.some((field) => field.toLowerCase() === name));
    connection.halfClose();
    await connection.closed();
  }
});

test('a refusal of a small body leaves the connection usable, a large one ends it', async () => {
  const start = `POST /v1/nothing HTTP/1.1\r\nHost: localhost:${tested.port}\r\nAuthorization: Bearer ${GATEWAY_CREDENTIAL}\r\n`;
  const small = await openRaw(tested.port, `${start}Content-Length: 3\r\n\r\nabc${start}Content-Length: 3\r\n\r\nabc`);
  await small.until(() => small.answers().length === 2);
  assert.deepEqual(
    small.answers().map(({ status }) => status),
    [404, 404],
  );
  small.halfClose();
  await small.closed();
  const large = await openRaw(tested.port, `${start}Content-Length: 9000000\r\n\r\nabc`);
  await large.closed();
  assert.match(large.answers()[0]?.head ?? '', /connection: close/i);
});

test('every request is activity at its begin and its end, and is counted while it runs', async () => {
  const before = tested.activity();
  await ask(tested.port, { path: '/v1/services/apps' });
  await ask(tested.port, { path: '/v1/services/apps', headers: { authorization: 'none' } });
  assert.equal(tested.gateway.activeRequests(), 0);
  assert.equal(tested.activity(), before + 4);
});

test('a Gateway listens on a Unix socket, where any loopback port may be the far side of its bridge', async () => {
  const path = `${tested.socketPath}.gateway`;
  const other = await startGatewayUnderTest(core.origin, { listen: { path } });
  for (const [host, status] of [
    ['127.0.0.1:8080', 200],
    ['localhost:49152', 200],
    ['core.test:8080', 421],
  ] as const) {
    const request = httpRequest({
      ...{ socketPath: path, path: '/v1/services/apps', agent: false },
      headers: { host, authorization: `Bearer ${GATEWAY_CREDENTIAL}` },
    }).end();
    const [response] = await once(request, 'response');
    assert.equal(response.statusCode, status);
    response.resume();
    await once(response, 'end');
  }
  await other.close();
});

test('a Gateway takes over a server that already listens, and closes it', async () => {
  const listening = createTcpServer().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const other = await startGatewayUnderTest(core.origin, { listen: listening });
  assert.equal((await ask(other.port, { path: '/v1/services/apps' })).status, 200);
  assertProblem(
    await ask(other.port, { path: '/v1/services/apps', headers: { host: '127.0.0.1:1' } }),
    421,
    'unknown_host',
  );
  await other.close();
  await assert.rejects(ask(other.port, { path: '/v1/services/apps' }), { code: 'ECONNREFUSED' });
});

test('hosts given by the Runtime are the only ones served', async () => {
  const other = await startGatewayUnderTest(core.origin, { hosts: ['127.0.0.1:7000'] });
  assert.equal((await ask(other.port, { path: '/v1/services/apps', headers: { host: '127.0.0.1:7000' } })).status, 200);
  assertProblem(await ask(other.port, { path: '/v1/services/apps' }), 421, 'unknown_host');
  await other.close();
});

test('a taken address rejects the start and leaves nothing behind', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  await assert.rejects(
    startGateway({
      ...{ installationId: 'i', appOrigin: 'http://a.test', coreOrigin: core.origin, coreHost: CORE_HOST },
      ...{
        gatewayCredential: 'pgw_a',
        coreServiceCredential: 'pcs_a',
        envelopeKey: await newEnvelopeKey(),
        policy: { revision: 0 },
        inbound: { socketPath: '/nowhere' },
      },
      ...{ onActivity: () => undefined, log: () => undefined },
      listen: { host: '127.0.0.1', port: portOf(taken) },
    }),
    { code: 'EADDRINUSE' },
  );
  taken.close();
});
