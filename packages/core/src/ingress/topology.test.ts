// The topology of public names as Ingresses follow it: both gates, one revision a change, snapshots and changes, and what
// takes names away again.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { type Assignments, assignments, type Grant, type PublicAddress, publicAddress } from '@platform/contract';
import { irohAddressText } from '@platform/link';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { bearer, install, publish } from '../../test-support/apps.ts';
import { followTopology, localCredential, type TestIngress } from '../../test-support/ingress.ts';
import { joinTestNode } from '../../test-support/joined-node.ts';
import { controlCredential } from '../../test-support/node-double.ts';
import { removeNode } from '../nodes/manage-nodes.ts';

let platform: Constellation;
let owner: TestAccount;
let ingress: TestIngress;
let count = 0;
const opened: TestIngress[] = [];

const declared = {
  workload: { runtime: 'node', entry: 'main.js' },
  publicEndpoints: ['POST:/hooks/*', 'GET:/status'],
  permissions: [{ id: 'endpoints.public', resources: ['POST:/hooks/*', 'GET:/status'] }],
};
const both: Grant = { id: 'endpoints.public', resources: ['POST:/hooks/*', 'GET:/status'] };

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'publisher');
  ingress = await followTopology(platform, credential());
});
after(() => platform.close());
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

const credential = () => localCredential(platform.core);

/** Another app with public routes, published and installed with these grants. */
async function publicApp(permissions: readonly Grant[] = [both]): Promise<string> {
  count += 1;
  const appId = `public-app-${count}`;
  await publish(owner, appId, declared);
  await install(owner, appId, permissions);
  return appId;
}

async function addressOf(appId: string): Promise<PublicAddress & { readonly hostname: string }> {
  const address = publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`));
  return { ...address, hostname: address.hostname ?? assert.fail('it has no hostname') };
}

function put(appId: string, permissions: readonly Grant[]): Promise<unknown> {
  return owner.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
}

async function routesOf(hostname: string): Promise<readonly string[] | null> {
  // What the topology says now reaches the Ingress before this answer does.
  await platform.core.context.signals.settled(platform.core.context.pool);
  const { rows } = await platform.core.context.pool.query<{ revision: string }>(
    'SELECT revision::text FROM topology_state',
  );
  await ingress.until(({ revision }) => BigInt(revision() ?? 0) >= BigInt(rows[0]?.revision ?? 0));
  return ingress.routes.get(hostname)?.routes ?? null;
}

test('a name is there when its routes are declared and granted, and only then', async () => {
  const appId = await publicApp();
  const { hostname, url, routes } = await addressOf(appId);
  assert.match(hostname, new RegExp(`^${appId}--[a-z2-7]{20}\\.public\\.platform\\.localhost$`));
  assert.equal(url, `http://${hostname}:8791`);
  assert.deepEqual(
    routes.map(({ state }) => state),
    ['open', 'open'],
  );
  assert.deepEqual(await routesOf(hostname), declared.publicEndpoints);
  await put(appId, [{ id: 'endpoints.public', resources: ['POST:/hooks/x'] }]);
  assert.deepEqual(await routesOf(hostname), ['POST:/hooks/x']);
  assert.deepEqual(
    (await addressOf(appId)).routes.map(({ method, path, state }) => [method, path, state]),
    [
      ['POST', '/hooks/*', 'partly'],
      ['GET', '/status', 'not-granted'],
    ],
  );
  await put(appId, []);
  assert.equal(await routesOf(hostname), null);
  await put(appId, [both]);
  assert.deepEqual(await routesOf(hostname), declared.publicEndpoints);
});

test('the node learns the same, once it says that it serves public requests', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  const node = platform.core.localNode.nodeCredential;
  const assigned = async () => {
    const { items, ingressKeys } = assignments.parse((await bearer(platform, node, '/v1/node/assignments')).json);
    return { ingressKeys, policy: items.find((item) => item.appId === appId)?.gateway.public };
  };
  assert.deepEqual(await assigned(), { ingressKeys: undefined, policy: undefined });
  const registration = {
    controlUrl: 'http://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: platform.core.context.config.nodeOrigin,
  };
  const publicSide = { url: 'http://127.0.0.1:9', credential: 'pni_of-the-test-of-the-node' };
  assert.equal((await bearer(platform, node, '/v1/node/register', { ...registration, publicSide })).status, 204);
  const now = await assigned();
  assert.deepEqual(now.policy, { hostname, routes: declared.publicEndpoints });
  assert.equal(now.ingressKeys?.length, 1);
  await ingress.until(({ nodes }) => nodes.get(platform.core.localNode.nodeId) === publicSide.url);
  assert.equal((await bearer(platform, node, '/v1/node/register', registration)).status, 204);
  assert.deepEqual(await assigned(), { ingressKeys: undefined, policy: undefined });
  await ingress.until(({ nodes }) => !nodes.has(platform.core.localNode.nodeId));
});

test('a node behind NAT without an origin gets a host at the Ingresses, which it has no say in', async () => {
  const node = await joinTestNode(platform, 'hidden');
  const { publicKey: key } = node.key;
  const [controlUrl, url] = ['control', 'public'].map((service) => irohAddressText({ key, service }));
  const addresses = { controlUrl, publicSide: { url, credential: 'pni_of-the-node-behind-nat' } };
  const register = async (more: object): Promise<number> =>
    (await node.call('/v1/node/register', { controlCredential, ...addresses, ...more })).status;
  const hostname = `${node.id}.public.platform.localhost`;
  const said = async (credential: string) => {
    const publicSide = { url, credential };
    const inboundOrigin = credential.endsWith('own') ? { inboundOrigin: 'https://tunnel.example' } : {};
    assert.equal(await register({ publicSide, ...inboundOrigin }), 204);
    const entries = () =>
      ingress.lines
        .flatMap((line) => (line.kind === 'nodes' ? line.items : []))
        .filter((one) => one.nodeId === node.id);
    await ingress.until(() => entries().at(-1)?.credential === credential);
    const { endpointHost } = (await node.call('/v1/node/assignments')).json as Assignments;
    return [entries().at(-1)?.endpointHost, endpointHost];
  };
  assert.deepEqual(await said('pni_first-credential'), [hostname, hostname]);
  assert.deepEqual(await said('pni_with-an-origin-of-its-own'), [undefined, undefined]);
  assert.deepEqual(await said('pni_third-credential'), [hostname, hostname]);
  for (const direct of [
    { controlUrl: 'https://127.0.0.1:9/control' },
    { publicSide: { url: 'https://127.0.0.1:9', credential: 'pni_of-the-node-behind-nat' } },
    { publicSide: undefined },
    { inboundOrigin: `http://${hostname}:8791` },
  ])
    assert.equal(await register(direct), 400, JSON.stringify(direct));
  await removeNode(platform.core.context, node.name, 'empty');
  await ingress.until(({ nodes }) => !nodes.has(node.id));
});

test('a pause and a removal take the name away before they are answered; a reinstallation has another', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  assert.notEqual(await routesOf(hostname), null);
  await owner.browser.take('/v1/runtime/pause', { body: {} });
  assert.equal(ingress.routes.has(hostname), false);
  assert.equal((await addressOf(appId)).routes[0]?.state, 'no-backend');
  await owner.browser.take('/v1/runtime/resume', { body: {} });
  assert.notEqual(await routesOf(hostname), null);
  assert.equal((await owner.fetch(`/v1/apps/${appId}`, { method: 'DELETE' })).status, 204);
  assert.equal(ingress.routes.has(hostname), false);
  await install(owner, appId);
  const again = await addressOf(appId);
  assert.notEqual(again.hostname, hostname);
  assert.notEqual(await routesOf(again.hostname), null);
});

test('a renewal gives another name, and the former is gone when it is answered', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  await routesOf(hostname);
  const renewed = publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public/renew`, { body: {} }));
  assert.notEqual(renewed.hostname, hostname);
  assert.deepEqual([ingress.routes.has(hostname), ingress.routes.has(String(renewed.hostname))], [false, true]);
});

test('an Ingress that comes back gets what changed since, from every point of what it knew', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  await routesOf(hostname);
  const revisions: string[] = [];
  const changes = [[], [both], [{ ...both, resources: ['GET:/status'] }], [], [both]];
  for (const grants of changes) {
    revisions.push(ingress.revision() ?? '');
    await put(appId, grants);
    await routesOf(hostname);
  }
  for (const known of revisions) {
    const again = await followTopology(platform, credential(), { after: known });
    opened.push(again);
    assert.equal(again.revision(), ingress.revision());
    assert.ok(!again.lines.some(({ kind }) => kind === 'snapshot'));
    assert.deepEqual(again.routes.get(hostname)?.routes, declared.publicEndpoints);
    assert.equal(again.routes.size, 1);
  }
});

test('an Ingress that knows nothing, too little or of another database gets everything', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  await routesOf(hostname);
  await platform.core.context.pool.query('UPDATE topology_state SET floor = 3');
  for (const known of [undefined, '2', '999999999']) {
    const again = await followTopology(platform, credential(), known === undefined ? {} : { after: known });
    opened.push(again);
    assert.equal(again.lines[0]?.kind, 'snapshot', known);
    assert.deepEqual([...again.routes.keys()].sort(), [...ingress.routes.keys()].sort());
  }
});

test('a change that touches no public name raises nothing', async () => {
  const appId = await publicApp();
  const { hostname } = await addressOf(appId);
  await routesOf(hostname);
  const known = ingress.revision();
  await publish(owner, 'quiet-app', { workload: declared.workload });
  await install(owner, 'quiet-app');
  assert.equal((await owner.fetch('/v1/apps/quiet-app', { method: 'DELETE' })).status, 204);
  await put(appId, [both]);
  await owner.fetch(`/v1/apps/${appId}/stop`, { body: {} });
  await routesOf(hostname);
  assert.equal(ingress.revision(), known);
});

test('what belongs to another account is not there', async () => {
  const appId = await publicApp();
  const stranger = await registerAccount(platform, 'stranger');
  for (const [path, settings] of [
    [`/v1/apps/${appId}/public`, {}],
    [`/v1/apps/${appId}/public/requests`, {}],
    [`/v1/apps/${appId}/public/renew`, { body: {} }],
  ] as const) {
    const answer = await stranger.fetch(path, settings);
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found'], path);
  }
});
