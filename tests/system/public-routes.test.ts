// Public routes on the whole platform, as `npm start` runs it: strangers reach an app exactly where its manifest declares
// and its owner granted, a revocation ends what is under way before it is answered, and killed parts come back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PublicAddress } from '@platform/contract';
import { openRaw, type RawConnection } from '../../packages/http/test-support/raw-exchange.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import {
  killPart,
  type PlatformPlace,
  type PlatformProcess,
  platformPlace,
  startPlatform,
} from '../support/platform-process.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

const APP = 'front-door';
const SERVER = `
  const http = process.getBuiltinModule('node:http');
  const server = http.createServer((req, res) => {
    if (req.url === '/feed/long') return void res.writeHead(200).write('begun');
    let body = '';
    req.on('data', (chunk) => { body += chunk; });
    req.on('end', () => {
      res.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=b' });
      res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body }));
    });
  });
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n');
    socket.pipe(socket);
  });
  server.listen(Number(process.env.PORT));
`;
const DECLARED = ['GET:/feed/*', 'POST:/hooks/*', 'WS:/chat', 'GET:/private'];
const GRANTED = ['GET:/feed/*', 'POST:/hooks/x', 'WS:/chat'];

let place: PlatformPlace;
let platform: PlatformProcess | undefined;
let account: TestAccount;
let hostname: string;

before(async () => {
  place = await platformPlace({ PLATFORM_INGRESS_RATE: '1000', PLATFORM_INGRESS_BURST: '1000' });
  platform = await startPlatform(place);
  account = await registerAccount(place, 'host');
  const endpoints = (resources: readonly string[]) => [{ id: 'endpoints.public', resources }];
  const manifest = testManifest(APP, {
    workload: { runtime: 'node', entry: 'main.mjs' },
    publicEndpoints: DECLARED,
    permissions: endpoints(DECLARED),
  });
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.mjs': SERVER };
  const published = await account.fetch(`/v1/catalog/${APP}/versions/1.0.0`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest, files }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(published.status, 201, published.text);
  await account.browser.take('/v1/apps', { body: { appId: APP, permissions: endpoints(GRANTED) } });
  const address = await account.browser.take<PublicAddress>(`/v1/apps/${APP}/public`);
  assert.ok(address.hostname !== null);
  hostname = address.hostname;
  assert.equal(address.url, `http://${hostname}:${place.ingressPort}`);
});
after(async () => {
  await platform?.stop();
  await place?.remove();
});

function ask(
  path: string,
  { method = 'GET', body, host = hostname }: { method?: string; body?: string; host?: string } = {},
) {
  const headers = { host: `${host}:${place.ingressPort}`, authorization: 'Bearer mine', cookie: 'a=b' };
  return rawRequest({ port: place.ingressPort, path, method, headers, ...(body === undefined ? {} : { body }) });
}

const codeOf = ({ text }: RawAnswer) => (JSON.parse(text) as { code: string }).code;

async function raw(target: string, fields: readonly string[] = []): Promise<RawConnection> {
  const lines = [`${target} HTTP/1.1`, `Host: ${hostname}`, ...fields];
  return openRaw(place.ingressPort, `${lines.join('\r\n')}\r\n\r\n`);
}

const HANDSHAKE = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

async function grant(resources: readonly string[]): Promise<void> {
  const permissions = resources.length === 0 ? [] : [{ id: 'endpoints.public', resources }];
  const { status, text } = await account.fetch(`/v1/apps/${APP}/permissions`, { method: 'PUT', body: { permissions } });
  assert.equal(status, 200, text);
}

test('a stranger’s first request wakes the app, which learns who asks and nothing of their authority', async () => {
  const answer = await ask('/hooks/x?y=1', { method: 'POST', body: 'text' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['set-cookie'], undefined);
  const { method, url, headers, body } = JSON.parse(answer.text);
  assert.deepEqual([method, url, body], ['POST', '/hooks/x?y=1', 'text']);
  assert.equal(headers.host, hostname);
  assert.equal(headers.forwarded, `for=127.0.0.1;host=${hostname};proto=http`);
  assert.equal(headers['x-forwarded-for'], '127.0.0.1');
  assert.equal(headers['platform-public'], '1');
  for (const name of ['authorization', 'cookie', 'platform-client-address'])
    assert.equal(headers[name], undefined, name);
});

test('what is not declared, or declared and not granted, is the same 404; another name is 421', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['/', 'GET'],
    ['/private', 'GET'],
    ['/hooks/y', 'POST'],
    ['/hooks/x', 'GET'],
    ['/chat', 'GET'],
    ['/v1/services/apps', 'GET'],
    ['/feed/../private', 'GET'],
  ];
  for (const [path, method] of cases) {
    const answer = await ask(path, { method });
    const expected = path.includes('..') ? [400, 'invalid_path'] : [404, 'not_found'];
    assert.deepEqual([answer.status, codeOf(answer)], expected, `${method} ${path}`);
  }
  const other = await ask('/feed/a', { host: `other--aaaaaaaaaaaaaaaaaaaa.${hostname.split('.').slice(1).join('.')}` });
  assert.deepEqual([other.status, codeOf(other)], [421, 'unknown_host']);
});

test('a revoked grant has ended its WebSocket and its download before the PUT is answered', async () => {
  const socket = await raw('GET /chat', HANDSHAKE);
  await socket.until(() => socket.received().includes('\r\n\r\n'));
  socket.socket.write('echo');
  await socket.until(() => socket.received().endsWith('echo'));
  const download = await raw('GET /feed/long');
  await download.until(() => download.received().includes('begun'));
  const ended = Promise.all([socket.closed(), download.closed()]);
  await grant(['POST:/hooks/x']);
  await ended;
  assert.equal((await ask('/feed/a')).status, 404);
  assert.equal((await ask('/hooks/x', { method: 'POST', body: '' })).status, 200);
  await grant(GRANTED);
  assert.equal((await ask('/feed/a')).status, 200);
});

test('a renewed address is another one, and the former is gone at once', async () => {
  const former = hostname;
  const renewed = await account.browser.take<PublicAddress>(`/v1/apps/${APP}/public/renew`, { method: 'POST' });
  assert.ok(renewed.hostname !== null && renewed.hostname !== former);
  hostname = renewed.hostname;
  assert.equal((await ask('/feed/a', { host: former })).status, 421);
  assert.equal((await ask('/feed/a')).status, 200);
});

for (const part of ['Ingress', 'Node', 'Core'] as const)
  test(`the app serves strangers again after ${part} was killed`, async () => {
    await killPart(place, part);
    await until('the app to serve', async () => {
      const answer = await ask('/feed/a').catch(() => undefined);
      if (answer !== undefined && answer.status !== 200) assert.ok(answer.status === 503, answer.text);
      return answer?.status === 200;
    });
  });

test('an uninstalled app is an unknown name', async () => {
  const { status } = await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' });
  assert.equal(status, 204);
  // Core has just come back, and an Ingress that it could not tell may need a moment; the node refuses until then.
  await until('the name to be unknown', async () => {
    const answer = await ask('/feed/a');
    assert.notEqual(answer.status, 200);
    return answer.status === 421;
  });
});
