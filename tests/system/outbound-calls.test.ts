// Outbound calls as a workload sees them: both bodies streamed, authority checked at each call, failures of the upstream in
// words of ours, and the secret in nothing that comes back.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { createDialer } from '@platform/http';
import { databaseText } from '../../packages/core/test-support/database-sweep.ts';
import {
  GATEWAY_CREDENTIAL,
  type OutboundWorld,
  PUBLIC_NAME,
  SECRET,
  startOutboundWorld,
} from '../support/outbound-world.ts';
import { problemCode, type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { answerInBrief } from '../support/tls-upstream.ts';

let world: OutboundWorld;
const answered: string[] = [];
before(async () => {
  world = await startOutboundWorld();
});
after(() => world.close());
beforeEach(() => {
  world.upstream.arrived.length = 0;
  world.upstream.answer = answerInBrief;
  world.upstream.takeHead = null;
});

const authorization = `Bearer ${GATEWAY_CREDENTIAL}`;
const pathOf = (slot: string, below: string) => `/v1/services/outbound/${slot}${below}`;

async function call(
  slot: string,
  below: string,
  more: Partial<Parameters<typeof rawRequest>[0]> = {},
): Promise<RawAnswer> {
  const { headers, port = world.port, ...rest } = more;
  const answer = await rawRequest({ port, path: pathOf(slot, below), headers: { authorization, ...headers }, ...rest });
  answered.push(JSON.stringify(answer.headers) + answer.text);
  return answer;
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

function open(slot: string, below: string, headers: Record<string, string> = {}, method = 'GET'): ClientRequest {
  return httpRequest({
    ...{ host: '127.0.0.1', port: world.port, path: pathOf(slot, below), method, agent: false },
    headers: { authorization, ...headers },
  });
}

test('a call arrives with its body and the secret, and its answer comes back as it is', async () => {
  world.upstream.answer = (_req, res) =>
    void res
      .writeHead(201, { 'content-type': 'text/plain', location: '/base/issues/7', etag: '"7"', 'x-ratelimit': '59' })
      .end('created');
  const answer = await call('base', '/issues?draft=1', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/plain' },
    body: '{"title":"T"}',
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.text, 'created');
  const { location, etag, 'x-ratelimit': limit } = answer.headers;
  assert.deepEqual([location, etag, limit], ['/base/issues/7', '"7"', '59']);
  const [arrived] = world.upstream.arrived;
  assert.equal(arrived?.target, '/base/issues?draft=1');
  assert.equal(arrived?.body, '{"title":"T"}');
  assert.ok(arrived?.rawHeaders.includes(`Bearer ${SECRET}`));
});

test('every answer has an X-Request-Id: that of the upstream, or one of ours', async () => {
  assert.match(String((await call('base', '/x')).headers['x-request-id']), /^[\w-]{36}$/);
  world.upstream.answer = (_req, res) => void res.writeHead(200, { 'x-request-id': 'of-upstream' }).end();
  assert.equal((await call('base', '/x')).headers['x-request-id'], 'of-upstream');
});

test('every redirect is refused, whatever it leads to, and 304 passes', async () => {
  for (const status of [300, 301, 302, 303, 305, 306, 307, 308, 399]) {
    world.upstream.answer = (_req, res) =>
      void res.writeHead(status, { location: `https://evil.example/?key=${encodeURIComponent(SECRET)}` }).end(SECRET);
    const answer = await call('base', '/x');
    assertRefused(answer, 502, 'upstream_redirect_refused');
    assert.equal(answer.headers.location, undefined);
  }
  world.upstream.answer = (_req, res) => void res.writeHead(304, { etag: '"7"' }).end();
  assert.equal((await call('base', '/x', { headers: { 'if-none-match': '"7"' } })).status, 304);
});

test('cookies of the upstream end here, other fields and failures pass', async () => {
  world.upstream.answer = (_req, res) =>
    void res.writeHead(401, { 'set-cookie': ['a=b', 'c=d'], 'www-authenticate': 'Bearer' }).end('no');
  const answer = await call('base', '/x');
  assert.equal(answer.status, 401);
  assert.equal(answer.headers['set-cookie'], undefined);
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
  assert.equal(answer.text, 'no');
});

test('a secret goes out in UTF-8, in a header and in a query', async () => {
  const put = (value: string) => world.account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value } });
  assert.equal((await put('schlüssel 鍵')).status, 204);
  await call('base', '/x');
  const sent = world.upstream.arrived[0]?.rawHeaders.find((value) => value.startsWith('Bearer '));
  assert.equal(Buffer.from(sent ?? '', 'latin1').toString('utf8'), 'Bearer schlüssel 鍵');
  await world.bind('base', { in: 'query', name: 'key' });
  await call('base', '/y');
  assert.equal(world.upstream.arrived[1]?.target, `/base/y?key=${encodeURIComponent('schlüssel 鍵')}`);
  await world.bind('base');
  assert.equal((await put(SECRET)).status, 204);
});

test('both bodies pass while they arrive', async () => {
  world.upstream.takeHead = (req, res) => {
    res.flushHeaders();
    req.on('data', (chunk: Buffer) => res.write(chunk));
    req.on('end', () => res.end());
  };
  const request = open('base', '/echo', { 'transfer-encoding': 'chunked' }, 'POST');
  request.write('first');
  const [response]: IncomingMessage[] = await once(request, 'response');
  const [first]: Buffer[] = await once(response as IncomingMessage, 'data');
  assert.equal(String(first), 'first', 'before the rest of the body was sent');
  request.write('second');
  const [second]: Buffer[] = await once(response as IncomingMessage, 'data');
  assert.equal(String(second), 'second');
  request.end();
  await once(response as IncomingMessage, 'end');
});

test('a large body of both kinds passes whole', async () => {
  world.upstream.takeHead = (req, res) => void req.pipe(res);
  const body = Buffer.alloc(8 * 1024 * 1024, 'outbound');
  const request = open('base', '/echo', { 'content-length': String(body.length) }, 'PUT');
  request.end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  assert.ok(body.equals(await buffer(response as IncomingMessage)));
});

test('the upstream loses its connection when the caller leaves in the middle of an answer', async (context) => {
  const gone = Promise.withResolvers<number>();
  const begun = Promise.withResolvers<void>();
  let left = 0;
  world.upstream.takeHead = (req, res) => {
    res.write('…');
    req.socket.once('close', () => gone.resolve(performance.now() - left));
    begun.resolve();
  };
  const request = open('base', '/stream');
  request.on('error', () => undefined).end();
  await Promise.all([begun.promise, once(request, 'response')]);
  left = performance.now();
  request.destroy();
  // Without it the answer would go on for as long as the upstream likes, which here is for ever.
  context.diagnostic(`the caller's end to the upstream's, ms: ${Math.round(await gone.promise)}`);
});

test('connections are used again for one slot, and never for another', async () => {
  const connection = async (slot: string) => {
    await call(slot, '/x');
    return world.upstream.arrived.at(-1)?.connection;
  };
  const base = await connection('base');
  assert.equal(await connection('base'), base);
  const root = await connection('root');
  assert.notEqual(root, base);
  assert.equal(await connection('base'), base);
  assert.equal(await connection('root'), root);
  const other = await world.open(createDialer());
  await call('base', '/x', { port: other.port });
  assert.ok(![base, root].includes(world.upstream.arrived.at(-1)?.connection), 'nor for another Gateway');
  await other.close();
});

test('what is revoked, removed or replaced counts for the next call', async () => {
  const { account } = world;
  assert.equal((await call('base', '/x')).status, 200);
  const permissions = '/v1/apps/caller/permissions';
  const { permissions: held } = await account.browser.take<{ permissions: object[] }>(permissions);
  await account.browser.take(permissions, { method: 'PUT', body: { permissions: [] } });
  assertRefused(await call('base', '/x'), 403, 'not_authorized');
  await account.browser.take(permissions, { method: 'PUT', body: { permissions: held } });
  assert.equal((await call('base', '/x')).status, 200);
  await account.fetch('/v1/apps/caller/secret-bindings/base', { method: 'DELETE' });
  assertRefused(await call('base', '/x'), 403, 'not_authorized');
  await world.bind('base');
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: 'another' } });
  await call('base', '/x');
  assert.ok(world.upstream.arrived.at(-1)?.rawHeaders.includes('Bearer another'));
  await account.fetch('/v1/account/secrets/token', { method: 'PUT', body: { value: SECRET } });
});

test('a name is looked up when it is connected to, and only public addresses count', async () => {
  const opened: string[] = [];
  const at = (addresses: readonly string[]) =>
    createDialer({
      resolve: async () => addresses,
      open({ host, port }) {
        opened.push(host);
        return connect({ host: '127.0.0.1', port });
      },
    });
  for (const addresses of [
    ['127.0.0.1'],
    ['10.0.0.7'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    [],
  ]) {
    const blocked = await world.open(at(addresses));
    assertRefused(await call('public', '/x', { port: blocked.port }), 502, 'upstream_failed');
    await blocked.close();
  }
  assert.deepEqual(opened, [], 'no connection was made');
  const reached = await world.open(at(['93.184.215.14']));
  assert.equal((await call('public', '/x', { port: reached.port })).status, 200);
  assert.deepEqual(opened, ['93.184.215.14'], 'to the address that was checked');
  assert.ok(world.upstream.arrived.at(-1)?.rawHeaders.includes(`${PUBLIC_NAME}:${world.upstream.port}`));
  world.upstream.answer = (_req, res) => void res.writeHead(200, { 'content-length': '7' }).end();
  const head = await call('public', '/x', { port: reached.port, method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
  await reached.close();
});

test('a certificate that nobody vouches for gets no request', async () => {
  const strict = await world.open(createDialer(), false);
  assertRefused(await call('base', '/x', { port: strict.port }), 502, 'upstream_failed');
  assert.deepEqual(world.upstream.arrived, []);
  await strict.close();
});

test('an upstream that breaks off, answers nonsense or upgrades is a failure, and a half answer looks like one', async () => {
  world.upstream.takeHead = (req) => void req.socket.destroy();
  assertRefused(await call('base', '/x'), 502, 'upstream_failed');
  world.upstream.takeHead = (req) => void req.socket.end(`HTTP/1.1 200 ${SECRET}\r\nContent-Length: x\r\n\r\n`);
  assertRefused(await call('base', '/x'), 502, 'upstream_failed');
  world.upstream.takeHead = (req) =>
    void req.socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
  assertRefused(await call('base', '/x'), 502, 'upstream_failed');
  world.upstream.takeHead = (req, res) => {
    res.writeHead(200, { 'content-length': '100' });
    res.write('half', () => req.socket.destroy());
  };
  await assert.rejects(call('base', '/x'));
});

test('a workload without the credential, or with two, gets nowhere', async () => {
  const bare = (headers: Record<string, string | string[]>) =>
    rawRequest({ port: world.port, path: pathOf('base', '/x'), headers });
  assertRefused(await bare({}), 401, 'unauthenticated');
  assertRefused(await bare({ authorization: 'Bearer other' }), 401, 'unauthenticated');
  assertRefused(await bare({ 'x-api-key': GATEWAY_CREDENTIAL }), 401, 'unauthenticated');
  assert.deepEqual(world.upstream.arrived, []);
});

test('what the Gateway asks of core is out of reach for workloads, frontends and people', async () => {
  const body = { slot: 'base', method: 'GET' };
  const asked = await world.account.fetch('/v1/gateway/outbound/authorize', { body });
  assertRefused(asked, 403, 'not_authorized');
  const frontend = await world.app.openFrontend();
  assertRefused(await frontend.call('/v1/gateway/outbound/authorize', { body }), 403, 'not_authorized');
  assertRefused(await frontend.call('/v1/services/outbound/base/x'), 404, 'not_found');
});

test('neither the secret nor its envelope is in an answer of ours, an event, the log of core or its database', async () => {
  const spellings = [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')];
  const text = [
    ...answered,
    JSON.stringify(world.events),
    JSON.stringify(world.platform.log),
    await databaseText(world.platform.core.context.pool),
  ].join('\n');
  assert.ok(world.events.length > 0 && answered.length > 20);
  for (const spelling of [...spellings, Buffer.from(SECRET).toString('hex')]) assert.ok(!text.includes(spelling));
});
