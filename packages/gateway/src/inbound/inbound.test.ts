// Requests to a workload: what it learns about the caller, which parts of its answer a browser gets, and how streams
// and failures pass. A plain server that accepts every caller stands in for the node listener.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { after, afterEach, before, test } from 'node:test';
import { createStrictServer } from '@platform/http';
import { CLAIMS, PLACES } from '../../../http/test-support/claims.ts';
import { openRaw } from '../../../http/test-support/raw-exchange.ts';
import {
  headerValues,
  type RecordedRequest,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../../../http/test-support/recording-upstream.ts';
import {
  APP_ORIGIN,
  ask,
  CORE_CREDENTIAL,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  portOf,
  startGatewayUnderTest,
  until,
} from '../../test-support/gateway-under-test.ts';

type Handler = (req: IncomingMessage, res: ServerResponse, body: string) => void;

const APP_HOST = new URL(APP_ORIGIN).host;
const DATA_PLANE_CREDENTIAL = 'pdc_canary-5d2c7a80c3de4f0cbd8b9f20a4b1e6f3';
const answerInBrief: Handler = (_req, res) => void res.end('ok');
let handle: Handler = answerInBrief;
let workload: RecordingUpstream;
let core: RecordingUpstream;
let tested: GatewayUnderTest;

before(async () => {
  core = await startRecordingUpstream();
  tested = await startGatewayUnderTest(core.origin);
  workload = await startRecordingUpstream((req, res, body) => handle(req, res, body), { path: tested.socketPath });
});

after(async () => {
  await tested.close();
  await workload.close();
  await core.close();
});

afterEach(() => {
  handle = answerInBrief;
  workload.complete.length = 0;
});

function received(): RecordedRequest {
  const [request] = workload.complete;
  assert.ok(request !== undefined);
  return request;
}

test('a caller says nothing that only a proxy in front could know', async () => {
  for (const name of [...CLAIMS, ...PLACES]) {
    workload.complete.length = 0;
    await ask(tested.inboundPort, { path: '/', headers: { [name]: 'evil-6.6.6.6' } });
    assert.ok(!JSON.stringify(received().rawHeaders).includes('evil'), name);
  }
});

test('a workload sees its own app as host and nothing of the caller but the request', async () => {
  const answer = await ask(tested.inboundPort, {
    method: 'POST',
    path: '/notes?q=a%2Fb',
    headers: {
      ...{ authorization: `Bearer ${DATA_PLANE_CREDENTIAL}`, cookie: 'platform_session=x', origin: APP_ORIGIN },
      ...{ 'x-forwarded-for': '10.0.0.1', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'gopher' },
      ...{ forwarded: 'for=10.0.0.1', 'x-platform-account': 'acct-1', 'content-type': 'text/plain' },
    },
    body: 'a note',
  });
  assert.equal(answer.body, 'ok');
  const request = received();
  assert.equal(request.method, 'POST');
  assert.equal(request.url, '/notes?q=a%2Fb');
  assert.equal(request.body, 'a note');
  assert.deepEqual(headerValues(request, 'host'), [APP_HOST]);
  assert.deepEqual(headerValues(request, 'x-forwarded-host'), [APP_HOST]);
  assert.deepEqual(headerValues(request, 'x-forwarded-proto'), ['http']);
  const names = request.rawHeaders.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase());
  assert.deepEqual(names.sort(), [
    'connection',
    'content-length',
    'content-type',
    'host',
    'x-forwarded-host',
    'x-forwarded-proto',
  ]);
});

test('what a workload says about the node origin does not reach the browser', async () => {
  handle = (_req, res) => {
    for (const name of [
      ...['Set-Cookie', 'Clear-Site-Data', 'Service-Worker-Allowed', 'Strict-Transport-Security', 'Refresh'],
      ...['Content-Security-Policy', 'Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials', 'Alt-Svc'],
      ...['WWW-Authenticate', 'X-Platform-Account', 'Platform-Installation', 'X-Accel-Redirect', 'X-Request-Id'],
      ...['Permissions-Policy', 'Report-To', 'NEL', 'Proxy-Authenticate', 'Cross-Origin-Resource-Policy'],
      ...['Set-Login', 'Use-As-Dictionary', 'Activate-Storage-Access', 'Connection-Allowlist', 'Integrity-Policy'],
      ...['Attribution-Reporting-Register-Source', 'Ad-Auction-Allowed', 'Document-Isolation-Policy'],
    ]) {
      res.setHeader(name, 'hostile');
    }
    res.setHeader('ETag', '"1"');
    res.setHeader('Content-Type', 'text/plain');
    res.statusCode = 201;
    res.end('ok');
  };
  const answer = await ask(tested.inboundPort, { path: '/' });
  assert.equal(answer.status, 201);
  assert.deepEqual(Object.keys(answer.headers).sort(), [
    'connection',
    'content-length',
    'content-type',
    'date',
    'etag',
  ]);
  assert.ok(!JSON.stringify(answer.headers).includes('hostile'));
});

test('headers that the node listener has set win over those of the workload', async () => {
  handle = (_req, res) => void res.setHeader('Vary', 'Accept').setHeader('X-Own', 'workload').end('ok');
  const listener = createStrictServer({
    isOwnHost: () => true,
    onFault: (error) => assert.fail(String(error)),
    onRequest(incoming) {
      incoming.res
        .setHeader('Access-Control-Allow-Origin', APP_ORIGIN)
        .setHeader('Vary', 'Origin')
        .setHeader('X-Request-Id', 'r1');
      tested.gateway.forwardInbound(incoming, '/x');
      return null;
    },
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const answer = await ask(portOf(listener), { path: '/e/1/x' });
  assert.equal(answer.headers['access-control-allow-origin'], APP_ORIGIN);
  // Of both, since a cache needs both.
  assert.equal(answer.headers.vary, 'Origin, Accept');
  assert.equal(answer.headers['x-request-id'], 'r1');
  assert.equal(answer.headers['x-own'], 'workload');
  assert.equal(received().url, '/x');
  listener.close();
});

test('a path that could be read in two ways never reaches the workload', async () => {
  for (const path of ['/a/../b', '/a%2fb', '/a%00', '/%ff', '/a\\b']) {
    const answer = await ask(tested.inboundPort, { path });
    assert.equal(answer.status, 400, path);
    assert.equal(JSON.parse(answer.body).code, 'invalid_path');
  }
  assert.equal(workload.complete.length, 0);
});

test('an upgrade to anything but WebSocket is ignored: the workload gets a plain request', async () => {
  const connection = await openRaw(
    tested.inboundPort,
    'GET / HTTP/1.1\r\nHost: n\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n',
  );
  await connection.closed();
  assert.equal(connection.answers()[0]?.status, 200);
  assert.ok(!workload.complete[0]?.rawHeaders.some((field) => field.toLowerCase() === 'upgrade'));
});

test('events of a workload reach the browser one by one, and a closed tab ends them', async () => {
  const streams: ServerResponse[] = [];
  let gone = false;
  handle = (req, res) => {
    req.socket.on('close', () => {
      gone = true;
    });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.flushHeaders();
    streams.push(res);
  };
  const request = httpRequest({ host: '127.0.0.1', port: tested.inboundPort, path: '/events', agent: false }).end();
  const [response]: IncomingMessage[] = await once(request, 'response');
  assert.ok(response !== undefined);
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    streams[0]?.write(event);
    assert.equal(String((await once(response, 'data'))[0]), event);
  }
  assert.equal(tested.gateway.activeRequests(), 1);
  request.destroy();
  await until(() => gone && tested.gateway.activeRequests() === 0);
});

test('a workload that does not listen is upstream_failed, and is reached once it does', async () => {
  const other = await startGatewayUnderTest(core.origin);
  const failed = await ask(other.inboundPort, { path: '/' });
  assert.equal(failed.status, 502);
  assert.equal(JSON.parse(failed.body).code, 'upstream_failed');
  assert.deepEqual(
    other.events.map((event) => [event.event, 'upstream' in event && event.upstream, event.reason]),
    [['upstream_failure', 'workload', 'ENOENT']],
  );
  const late = await startRecordingUpstream(undefined, { path: other.socketPath });
  assert.equal((await ask(other.inboundPort, { path: '/' })).status, 200);
  await other.close();
  await late.close();
});

test('an inbound request is activity at its begin and its end', async () => {
  const before = tested.activity();
  await ask(tested.inboundPort, { path: '/' });
  await until(() => tested.activity() === before + 2);
});

test('a closed Gateway answers unavailable', async () => {
  const other = await startGatewayUnderTest(core.origin);
  await other.gateway.close();
  const answer = await ask(other.inboundPort, { path: '/' });
  assert.equal(answer.status, 503);
  assert.equal(JSON.parse(answer.body).code, 'unavailable');
  await other.close();
});

test('no credential crosses the Gateway to the other side, its answers or its log', async () => {
  const seen: string[] = [];
  handle = (req, res, body) => {
    seen.push(JSON.stringify([req.url, req.rawHeaders, body]));
    // A workload that gives away whatever it was given.
    res.end(JSON.stringify([req.rawHeaders, body]));
  };
  const inbound = { authorization: `Bearer ${DATA_PLANE_CREDENTIAL}`, cookie: `s=${CORE_CREDENTIAL}` };
  const answers = [
    await ask(tested.inboundPort, { path: '/', headers: inbound }),
    await ask(tested.inboundPort, { method: 'POST', path: '/', headers: inbound, body: 'x' }),
    await ask(tested.inboundPort, { path: '/a%2fb', headers: inbound }),
    await ask(tested.port, { path: '/v1/services/apps' }),
    await ask(tested.port, { path: '/v1/nothing' }),
    await ask(tested.port, { path: '/v1/services/apps', headers: { host: 'evil.example' } }),
  ];
  const dead = await startGatewayUnderTest('http://127.0.0.1:9');
  answers.push(await ask(dead.port, { path: '/v1/services/apps' }), await ask(dead.inboundPort, { path: '/' }));
  const toCallers = JSON.stringify(answers) + JSON.stringify([...tested.events, ...dead.events]);
  await dead.close();
  for (const secret of [GATEWAY_CREDENTIAL, CORE_CREDENTIAL, DATA_PLANE_CREDENTIAL]) {
    assert.ok(!toCallers.includes(secret));
    assert.ok(!seen.join().includes(secret));
  }
  const toCore = JSON.stringify(core.complete);
  assert.ok(toCore.includes(CORE_CREDENTIAL));
  assert.ok(!toCore.includes(GATEWAY_CREDENTIAL));
});
