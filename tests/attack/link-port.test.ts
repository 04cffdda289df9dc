// The port for nodes of other machines: what it gives to strangers, to nodes, and to one that was removed.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { type NodeCredential, type RouteSpec, routes, type WorkloadStart } from '@platform/contract';
import { linkKeyOf } from '@platform/core';
import { removeNode } from '@platform/core/operator';
import { fetchOverLink, type LinkCertificate, type LinkKey, linkCertificate } from '@platform/link';
import { enrolmentSecret, joinBody, joinTestNode } from '../../packages/core/test-support/joined-node.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, newNodeKey, startConstellation, type TestCore } from '../support/constellation.ts';
import { publishTestApp } from '../support/publish.ts';

let platform: Constellation;
let core: TestCore;
let coreKey: Buffer;
let host: string;

before(async () => {
  platform = await startConstellation();
  core = await platform.replica({ linkListen: { host: '127.0.0.1', port: 0 } });
  coreKey = linkKeyOf(core.context.masterKey).publicKey;
  host = new URL(core.context.config.origin).host;
});
after(() => platform.close());

interface Request {
  readonly method?: string;
  readonly path: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** One request over the link port, by the holder of the key. */
async function over(key: LinkKey | null, request: Request): Promise<{ status: number; text: string }> {
  const json = request.body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetchOverLink(`https://127.0.0.1:${core.linkPort}${request.path}`, {
    key: coreKey,
    certificate: key === null ? undefined : await linkCertificate(key),
    method: request.method ?? 'GET',
    host: request.host ?? host,
    headers: { ...json, ...request.headers },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    signal: AbortSignal.timeout(20_000),
  });
  return { status: answer.status, text: await answer.text() };
}

const concrete = ({ path }: RouteSpec) => path.replaceAll(/:[a-z-]+/g, 'x');

test('a stranger with any key gets no page, no account and no route but that of joining', async () => {
  const key = newNodeKey();
  const { cookie } = await registerAccount(platform, 'somebody');
  const headers = { cookie };
  for (const path of ['/', '/index.html', '/assets/x.js', '/v1', '/v1/', '//v1/node/join', '/v1/node/join/x'])
    assert.equal((await over(key, { path, headers })).status, 401, path);
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
    if (id === 'node.join' || id === 'ingress.join') continue;
    const { status, text } = await over(key, { method: spec.method, path: concrete(spec), headers });
    assert.equal(status, 401, `${id}: ${text}`);
  }
  assert.equal((await over(key, { path: '/', host: `notes--abc.${core.context.config.appsDomain}` })).status, 401);
});

test('without a key in the handshake nothing is answered at all', async () => {
  await assert.rejects(over(null, { path: '/v1/node/join', method: 'POST', body: {} }));
  await assert.rejects(over(null, { path: '/' }));
});

test('joining is guarded by the token, for the key of the connection only', async () => {
  const [machine, thief] = [newNodeKey(), newNodeKey()];
  const token = await enrolmentSecret(platform);
  const at = { ...platform, origin: core.context.config.origin };
  const join = (key: LinkKey, body: object) => over(key, { path: '/v1/node/join', method: 'POST', body });
  const wrong = await join(machine, joinBody(at, machine, 'pne_none', { name: 'joining' }));
  assert.equal(wrong.status, 401, wrong.text);
  const other = await join(thief, joinBody(at, machine, token, { name: 'joining' }));
  assert.match(other.text, /another key than the one that joins/);
  const large = await join(machine, { token: 'x'.repeat(100_000) });
  assert.equal(large.status, 413);
  const joined = await join(machine, joinBody(at, machine, token, { name: 'joining' }));
  assert.equal(joined.status, 201, joined.text);
  const { nodeCredential } = JSON.parse(joined.text) as NodeCredential;
  const headers = { authorization: `Bearer ${nodeCredential}` };
  assert.equal((await over(machine, { path: '/v1/node/assignments', headers })).status, 200);
  // What was stolen from one node is worth nothing on the connection of another.
  const another = await joinTestNode(platform, 'another');
  const stolen = await over(another.key, { path: '/v1/node/assignments', headers });
  assert.equal(stolen.status, 401, stolen.text);
});

test('the credential of a backend is worth nothing on the connection of another node', async () => {
  const [home, another] = [await joinTestNode(platform, 'home'), await joinTestNode(platform, 'elsewhere')];
  const account = await registerAccount(platform, 'tenant');
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  await publishTestApp(account, 'placed', { workload: { runtime: 'node', entry: 'main.js' } }, files);
  await account.browser.take('/v1/apps', { body: { appId: 'placed' } });
  const { rows } = await core.context.pool.query<{ id: string }>(
    "UPDATE installations SET node_id = $1 WHERE app_id = 'placed' RETURNING id",
    [home.id],
  );
  const started = await home.call(`/v1/node/installations/${rows[0]?.id}/starts`, {});
  assert.equal(started.status, 200, started.text);
  const { coreServiceCredential } = started.json as WorkloadStart;
  const headers = { authorization: `Bearer ${coreServiceCredential}` };
  const calls = [
    { path: '/v1/services/workflows', headers },
    { path: '/v1/services/workflows', method: 'POST', headers, body: {} },
    { path: '/v1/gateway/outbound/authorize', method: 'POST', headers, body: { slot: 'one', method: 'GET' } },
    { path: '/v1/gateway/object-storage/authorize', method: 'POST', headers, body: {} },
    { path: '/v1/gateway/intelligence/renew', method: 'POST', headers, body: { reservations: [] } },
  ];
  for (const call of calls) {
    const { status, text } = await over(another.key, call);
    assert.equal(status, 401, `${call.path}: ${text}`);
    assert.match(text, /another node/);
    assert.notEqual((await over(home.key, call)).status, 401, call.path);
  }
});

test('a node gets the routes of members and of workloads, and none of people', async () => {
  const node = await joinTestNode(platform, 'routes');
  for (const path of ['/', '/index.html', '/v1/auth/register/options'])
    assert.equal((await over(node.key, { path, method: path === '/' ? 'GET' : 'POST' })).status, 404, path);
  for (const [id, spec] of Object.entries(routes) as [string, RouteSpec][]) {
    const ofMembers = ({ callers }: RouteSpec) =>
      (['node', 'installation', 'ingress'] as const).some((kind) => callers.includes(kind));
    const mine = ofMembers(spec);
    const joins = /^(node|ingress)\.(join|challenge|credential)$/.test(id);
    const shared = (Object.values(routes) as RouteSpec[]).some((other) => other.path === spec.path && ofMembers(other));
    const { status, text } = await over(node.key, { method: spec.method, path: concrete(spec) });
    if (!mine && !joins && !shared) assert.equal(status, 404, `${id}: ${text}`);
    else assert.notEqual(status, 404, `${id}: ${text}`);
  }
  assert.equal((await over(node.key, { path: '/', host: `notes--abc.${core.context.config.appsDomain}` })).status, 404);
});

test('a node that is removed is cut off at once, learns it, and others stay', async () => {
  const [gone, stays] = [await joinTestNode(platform, 'gone'), await joinTestNode(platform, 'stays')];
  const [open, other] = [await hold(gone.key), await hold(stays.key)];
  const closed = once(open, 'close');
  await removeNode(core.context, 'gone', 'empty');
  await closed;
  assert.equal(other.destroyed, false);
  other.destroy();
  const headers = { authorization: `Bearer ${gone.credential()}` };
  assert.equal((await over(gone.key, { path: '/v1/node/assignments', headers })).status, 401);
  assert.equal((await over(stays.key, { path: '/v1/node/assignments', headers: bearerOf(stays) })).status, 200);
});

function bearerOf(node: { credential(): string }): { authorization: string } {
  return { authorization: `Bearer ${node.credential()}` };
}

/** A connection of a node that is idle after one answer. */
async function hold(key: LinkKey): Promise<TLSSocket> {
  const certificate: LinkCertificate = await linkCertificate(key);
  const socket = connect({ port: core.linkPort ?? 0, host: '127.0.0.1', rejectUnauthorized: false, ...certificate });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.write(`GET /v1/nothing HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, 'data');
  return socket.resume();
}
