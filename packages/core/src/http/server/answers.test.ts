// What every answer of core has, whoever gives it: an id of its request, and HEAD wherever there is GET.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { routes } from '@platform/contract';
import { type Cast, makeCast } from '../../../../../tests/support/cast.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { openRaw } from '../../../../http/test-support/raw-exchange.ts';

let platform: Constellation;
let cast: Cast;
let host: string;
before(async () => {
  platform = await startConstellation();
  cast = await makeCast(platform);
  host = new URL(platform.origin).host;
});
after(() => platform.close());

const head = (line: string, ...fields: string[]) => `${[line, ...fields, 'Connection: close'].join('\r\n')}\r\n\r\n`;

test('every answer has an X-Request-Id: of the shell, preflights, refusals, and what is no request', async () => {
  const { origin } = cast.credentials('frontend');
  const own = `Host: ${host}`;
  const requests: readonly (readonly [status: number, text: string])[] = [
    [200, head('GET / HTTP/1.1', own)],
    [200, head('HEAD / HTTP/1.1', own)],
    [404, head('GET /nothing HTTP/1.1', own)],
    [204, head('OPTIONS /v1/services/notifications HTTP/1.1', own, `Origin: ${origin}`)],
    [405, head('OPTIONS /v1/apps HTTP/1.1', own)],
    [401, head('GET /v1/apps HTTP/1.1', own)],
    [404, head('GET /v1/nothing HTTP/1.1', own)],
    [200, head('GET / HTTP/1.1', `Host: ${new URL(origin ?? '').host}`)],
    [421, head('GET / HTTP/1.1', 'Host: elsewhere.example')],
    [400, head('GET /%2e%2e/ HTTP/1.1', own)],
    [400, head('GET / HTTP/1.1')],
    [400, 'no request\r\n\r\n'],
    [405, head('TRACE / HTTP/1.1', own)],
    [405, head('CONNECT elsewhere.example:443 HTTP/1.1', 'Host: elsewhere.example:443')],
    [431, head(`GET /${'a'.repeat(20_000)} HTTP/1.1`, own)],
  ];
  for (const [status, text] of requests) {
    const connection = await openRaw(platform.port, text);
    await connection.closed();
    const received = connection.received();
    assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `), text.slice(0, 80));
    assert.match(received, /^x-request-id: [\w-]{8,}\r$/im, text.slice(0, 80));
    if (status === 405) assert.match(received, /^allow: [A-Z, ]+\r$/im, text.slice(0, 80));
  }
});

test('what the API answers is data: no page is made of it, and no page elsewhere draws it', async () => {
  for (const [status, line] of [
    [200, 'GET /v1/health'],
    [401, 'GET /v1/apps'],
    [404, 'GET /v1/nothing'],
  ] as const) {
    const connection = await openRaw(platform.port, head(`${line} HTTP/1.1`, `Host: ${host}`));
    await connection.closed();
    const received = connection.received();
    assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `), line);
    assert.match(received, /^content-security-policy: default-src 'none';.* sandbox\r$/im, line);
    assert.match(received, /^cross-origin-resource-policy: same-origin\r$/im, line);
    assert.match(received, /^x-content-type-options: nosniff\r$/im, line);
  }
});

test('the host of services has what frontends of apps may call, for them alone, and nothing of the shell', async () => {
  const { authorization = '', origin = '' } = cast.credentials('frontend');
  const ask = async (line: string, ...fields: string[]) => {
    const own = `Host: services.apps.platform.localhost:${platform.port}`;
    const connection = await openRaw(platform.port, head(`${line} HTTP/1.1`, own, ...fields));
    await connection.closed();
    return connection.received();
  };
  const frontend = [`Authorization: ${authorization}`, `Origin: ${origin}`];
  const list = await ask('GET /v1/services/notifications', ...frontend);
  assert.match(list, /^HTTP\/1\.1 200 /);
  assert.match(list, new RegExp(`^access-control-allow-origin: ${origin}\r$`, 'im'));
  assert.match(await ask('OPTIONS /v1/frontend/exchange', `Origin: ${origin}`), /^HTTP\/1\.1 204 /);
  const session = Object.entries(cast.credentials('session')).map((pair) => pair.join(': '));
  for (const line of [
    'GET /',
    'GET /index.html',
    'GET /v1/apps',
    'GET /v1/auth/session',
    'POST /v1/auth/login/options',
  ])
    assert.match(await ask(line, ...session), /^HTTP\/1\.1 404 /, line);
});

test('HEAD answers like GET without a body, and begins no stream', async () => {
  const fields = (kind: 'session' | 'installation') =>
    Object.entries(cast.credentials(kind)).map((pair) => pair.join(': '));
  const ask = async (line: string, kind?: 'session' | 'installation') => {
    const connection = await openRaw(
      platform.port,
      head(`${line} HTTP/1.1`, `Host: ${host}`, ...(kind === undefined ? [] : fields(kind))),
    );
    await connection.closed();
    const [top = '', body] = connection.received().split('\r\n\r\n');
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(top)?.[1];
    return { status: Number(top.split(' ')[1]), body, type: field('content-type'), length: field('content-length') };
  };
  for (const path of ['/v1/apps', `/v1/apps/castowner-mighty/permissions`, '/v1/catalog/no-such-app/icon']) {
    const [get, only] = [await ask(`GET ${path}`, 'session'), await ask(`HEAD ${path}`, 'session')];
    assert.deepEqual(only, { ...get, body: '' }, path);
  }
  for (const [kind, id] of [
    ['session', 'events.stream'],
    ['installation', 'services.notifications.stream'],
  ] as const) {
    const { status, body, type } = await ask(`HEAD ${routes[id].path}`, kind);
    assert.deepEqual([status, body, type], [200, '', 'text/event-stream'], id);
  }
  assert.equal((await ask('HEAD /v1/events')).status, 401);
});
