// What of a request and its answer passes between a workload and core: headers, trace context, expectations.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import {
  headerValues,
  onlyRequest,
  type RecordingUpstream,
  startRecordingUpstream,
} from '../../http/test-support/recording-upstream.ts';
import {
  ask,
  assertProblem,
  GATEWAY_CREDENTIAL,
  type GatewayUnderTest,
  startGatewayUnderTest,
} from '../test-support/gateway-under-test.ts';

let core: RecordingUpstream;
let tested: GatewayUnderTest;

before(async () => {
  core = await startRecordingUpstream((req, res, body) => {
    res.setHeader('x-request-id', 'req-of-core');
    if (req.url === '/v1/services/hostile-headers') {
      res.setHeader('set-cookie', ['platform_session=secret; HttpOnly', 'b=c']);
      res.setHeader('www-authenticate', 'Bearer realm="core"');
      res.setHeader('connection', 'close, x-internal');
      res.setHeader('x-internal', 'of this hop');
      res.setHeader('x-kept', ['one', 'two']);
      res.setHeader('trailer', 'x-late');
      res.addTrailers({ 'x-late': 'dropped' });
    }
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

test('nothing that identifies, routes or frames travels from the workload to core', async () => {
  await ask(tested.port, {
    path: '/v1/services/apps',
    headers: {
      ...{ cookie: 'platform_session=stolen', origin: 'http://shell.platform.localhost:8787', te: 'trailers' },
      ...{ forwarded: 'for=127.0.0.1', 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', via: '1.1 x' },
      ...{ 'x-real-ip': '127.0.0.1', 'proxy-authorization': 'Basic eA==', 'proxy-connection': 'keep-alive' },
      ...{ 'x-platform-account': 'acct-1', 'platform-installation': 'inst-2', 'X-Platform_Account': 'acct-1' },
      ...{ X_Forwarded_For: '127.0.0.1', 'x-request-id': 'forged', 'x-original-url': '/v1/auth' },
      ...{ connection: 'keep-alive, x-hop', 'keep-alive': 'timeout=9', 'x-hop': 'hop', 'X-Custom': 'kept' },
      ...{ 'last-event-id': '7', accept: 'application/json' },
    },
  });
  const names = onlyRequest(core).rawHeaders.filter((_value, index) => index % 2 === 0);
  assert.deepEqual(names.map((name) => name.toLowerCase()).sort(), [
    'accept',
    'authorization',
    'connection',
    'host',
    'last-event-id',
    'x-custom',
  ]);
  assert.deepEqual(headerValues(onlyRequest(core), 'connection'), ['keep-alive']);
});

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
for (const [what, sent, arrives] of [
  ['well-formed', { traceparent: TRACE, tracestate: 'vendor=1,other@x=abc' }, [[TRACE], ['vendor=1,other@x=abc']]],
  ['without state', { traceparent: TRACE }, [[TRACE], []]],
  ['with broken state', { traceparent: TRACE, tracestate: 'no equals' }, [[TRACE], []]],
  ['all zero', { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, tracestate: 'a=b' }, [[], []]],
  ['upper case', { traceparent: TRACE.toUpperCase() }, [[], []]],
  ['sent twice', { traceparent: [TRACE, TRACE] }, [[], []]],
  ['state alone', { tracestate: 'a=b' }, [[], []]],
  ['version ff', { traceparent: TRACE.replace(/^00/, 'ff') }, [[], []]],
] as const) {
  test(`trace context that is ${what} is ${arrives[0].length > 0 ? 'propagated' : 'dropped'}`, async () => {
    const headers: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(sent)) headers[name] = typeof value === 'string' ? value : [...value];
    await ask(tested.port, { path: '/v1/services/apps', headers });
    assert.deepEqual(headerValues(onlyRequest(core), 'traceparent'), arrives[0]);
    assert.deepEqual(headerValues(onlyRequest(core), 'tracestate'), arrives[1]);
  });
}

test('cookies, challenges and connection fields of core do not reach the workload', async () => {
  const answer = await ask(tested.port, { path: '/v1/services/hostile-headers' });
  assert.equal(answer.status, 200);
  for (const name of ['set-cookie', 'www-authenticate', 'x-internal', 'trailer', 'x-late']) {
    assert.equal(answer.headers[name], undefined, name);
  }
  assert.equal(answer.headers['x-kept'], 'one, two');
});

test('a body is asked for with 100 Continue only after the credential was accepted', async () => {
  const interim: string[] = [];
  for (const [authorization, status, continued] of [
    [`Bearer ${GATEWAY_CREDENTIAL}`, 200, 1],
    ['Bearer pgw_wrong', 401, 0],
  ] as const) {
    interim.length = 0;
    const request = httpRequest({
      ...{ host: '127.0.0.1', port: tested.port, method: 'PUT', path: '/v1/services/search/index', agent: false },
      headers: { authorization, expect: '100-continue', 'content-length': '5' },
    });
    request.flushHeaders();
    request.on('continue', () => {
      interim.push('100');
      request.end('hello');
    });
    const [response] = await once(request, 'response');
    assert.equal(response.statusCode, status);
    assert.equal(interim.length, continued);
    response.resume();
    request.destroy();
  }
});

test('an expectation other than 100-continue is refused', async () => {
  assertProblem(
    await ask(tested.port, { path: '/v1/services/apps', headers: { expect: 'the-unexpected' } }),
    400,
    'invalid_request',
  );
});

test('a head with too many or too large fields is refused without being forwarded', async () => {
  const many = Object.fromEntries(Array.from({ length: 120 }, (_value, index) => [`x-${index}`, 'y']));
  assertProblem(await ask(tested.port, { path: '/v1/services/apps', headers: many }), 431, 'head_too_large');
  const large = { 'x-large': 'y'.repeat(20_000) };
  assertProblem(await ask(tested.port, { path: '/v1/services/apps', headers: large }), 431, 'head_too_large');
  assert.equal(core.complete.length, 0);
});
