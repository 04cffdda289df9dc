// Clients of a node behind NAT through an Ingress: what arrives at its endpoint side, and what is refused before. Core and
// node are stand-ins of the test.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { CLIENT_ADDRESS, CLIENT_AUTHORIZATION, CLIENT_PROTOCOL, type TopologyNode } from '@platform/contract';
import { handshake, switching } from '../../http/test-support/handshakes.ts';
import { openRaw, type RawAnswer, type RawConnection } from '../../http/test-support/raw-exchange.ts';
import {
  HOSTNAME,
  ROUTES,
  routeOf,
  startUnderTest,
  type UnderTest,
  type UnderTestOptions,
} from '../test-support/ingress-under-test.ts';

const HOST = 'node-019a0000-0000-7000-8000-000000000001.public.platform.localhost';
const CAPABILITY = `Bearer pdc_${'A'.repeat(43)}`;

let tested: UnderTest;
let seen: {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}[];
const connections: RawConnection[] = [];

beforeEach(() => start());

async function start(options: UnderTestOptions = {}): Promise<void> {
  seen = [];
  tested = await startUnderTest({
    ...options,
    lines: (node) => [
      { kind: 'nodes', items: [behindNat(node)], gone: [] },
      { kind: 'routes', items: [routeOf(ROUTES)], gone: [] },
    ],
  });
  tested.node.handle = (req, res) => {
    seen.push(req);
    req.resume().on('end', () => res.end('from the node'));
  };
}

afterEach(async () => {
  for (const { socket } of connections.splice(0)) socket.destroy();
  await tested.close();
});

function behindNat(node: TopologyNode): TopologyNode {
  return { ...node, endpointHost: HOST };
}

async function open(line: string, fields: readonly string[], host = HOST): Promise<RawConnection> {
  const head = [`${line} HTTP/1.1`, `Host: ${host}:8791`, ...fields, '', ''];
  const connection = await openRaw(tested.port, head.join('\r\n'));
  connections.push(connection);
  return connection;
}

async function ask(line: string, fields: readonly string[] = [], host = HOST): Promise<RawAnswer> {
  const connection = await open(line, ['Connection: close', ...fields], host);
  await connection.until(() => connection.answers().length === 1);
  return connection.answers()[0] ?? assert.fail();
}

const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;

test('a request arrives with what the client shows as its own, beside the credential of the Ingress', async () => {
  const answer = await ask('DELETE /e/abc/notes/1?q=%2F', [
    ...[`Authorization: ${CAPABILITY}`, 'Origin: https://notes.example', 'Cookie: a=b'],
    ...[`${CLIENT_AUTHORIZATION}: Bearer forged`, `${CLIENT_ADDRESS}: 10.0.0.1`],
  ]);
  assert.deepEqual([answer.status, answer.body], [200, 'from the node']);
  assert.deepEqual([seen[0]?.method, seen[0]?.url], ['DELETE', '/e/abc/notes/1?q=%2F']);
  const { connection: _, ...headers } = seen[0]?.headers ?? {};
  assert.deepEqual(headers, {
    host: HOST,
    authorization: `Bearer ${tested.node.entry().credential}`,
    [CLIENT_AUTHORIZATION]: CAPABILITY,
    [CLIENT_ADDRESS]: '127.0.0.1',
    [CLIENT_PROTOCOL]: 'http',
    origin: 'https://notes.example',
  });
});

test('without a credential, or with two, none arrives; and at a public name never', async () => {
  for (const [host, fields] of [
    [HOST, []],
    [HOST, [`Authorization: ${CAPABILITY}`, 'Authorization: Bearer other']],
    [HOSTNAME, [`Authorization: ${CAPABILITY}`]],
  ] as const)
    await ask(`GET ${host === HOST ? '/e/abc/' : '/'}`, fields, host);
  assert.deepEqual(
    seen.map(({ headers }) => headers[CLIENT_AUTHORIZATION]),
    seen.map(() => undefined),
  );
  assert.ok(seen.length >= 2);
});

test('nothing but endpoints is reached there, and no endpoint at another name', async () => {
  for (const line of ['GET /', 'GET /e', 'GET /control/installations', 'GET /v1/apps'])
    assert.equal(await statusOf(line), 404, line);
  assert.equal(await statusOf('GET /e/abc/', [], HOSTNAME), 404);
  for (const host of [`x.${HOST}`, 'node-other.public.platform.localhost', 'public.platform.localhost'])
    assert.equal(await statusOf('GET /e/abc/', [], host), 421, host);
  assert.deepEqual(seen, []);
});

test('a client hears from the node that its capability is none; that the node does not take this Ingress, it does not', async () => {
  tested.node.handle = (_req, res) => void res.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end('who?');
  const refused = await ask('GET /e/abc/');
  assert.deepEqual([refused.status, refused.body], [401, 'who?']);
  tested.node.handle = (_req, res) => void res.writeHead(421).end();
  assert.equal(await statusOf('GET /e/abc/'), 503);
});

test('a WebSocket passes, and ends with the node: its host is unknown then', async () => {
  tested.node.server.on('upgrade', (req, socket: Socket) => {
    seen.push(req);
    socket.on('error', () => undefined);
    socket.write(`${switching(req)}hello`);
  });
  const offered = `platform.bearer.${'A'.repeat(43)}, chat`;
  const socket = await open('GET /e/abc/chat', handshake({ 'Sec-WebSocket-Protocol': offered }));
  await socket.until(() => socket.received().endsWith('hello'));
  assert.equal(seen[0]?.headers['sec-websocket-protocol'], offered);
  const { core } = tested;
  await core.confirmed(core.say({ kind: 'nodes', items: [], gone: ['node-1'] }));
  await socket.closed();
  assert.equal(await statusOf('GET /e/abc/'), 421);
});

test('a node that is reached without an Ingress from now on has no host here any more', async () => {
  assert.equal(await statusOf('GET /e/abc/'), 200);
  const { core, node } = tested;
  await core.confirmed(core.say({ kind: 'nodes', items: [node.entry()], gone: [] }));
  assert.equal(await statusOf('GET /e/abc/'), 421);
  assert.equal(await statusOf('GET /', [], HOSTNAME), 200);
});

test('the clients of a node have the rate of one app, apart from its apps; the log has their paths without queries', async () => {
  await tested.close();
  const folder = mkdtempSync(path.join(tmpdir(), 'access-log-'));
  const file = path.join(folder, 'access.log');
  // So slow that no place comes back while the test runs.
  await start({ limits: { rate: 0.001, burst: 2 }, accessLog: { file } });
  const statuses: number[] = [];
  for (const endpoint of ['one', 'two', 'three']) statuses.push(await statusOf(`GET /e/${endpoint}/?secret`));
  assert.deepEqual(statuses, [200, 200, 429]);
  assert.equal(await statusOf('GET /', [], HOSTNAME), 200);
  await tested.ingress.stop();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  rmSync(folder, { recursive: true });
  const logged = lines.map((line) => JSON.parse(line)).filter(({ host }) => host.startsWith(HOST));
  assert.deepEqual(logged.map((line) => `${line.path} ${line.status}`).sort(), [
    '/e/one/ 200',
    '/e/three/ 429',
    '/e/two/ 200',
  ]);
});

test('the whole topology anew keeps the host of a node that is in it', async () => {
  const { core, node } = tested;
  core.restart({ kind: 'nodes', items: [behindNat(node.entry())], gone: [] });
  await core.confirmed('2');
  assert.deepEqual([await statusOf('GET /e/abc/'), await statusOf('GET /', [], HOSTNAME)], [200, 421]);
});
