// Every way in which an installation comes to another public name, other routes or another node: what Ingresses see of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, publicAddress } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, launch, nodeWorkload, publish } from '../../test-support/apps.ts';
import { followTopology, joinTestIngress, localCredential, type TestIngress } from '../../test-support/ingress.ts';
import { joinTestNode } from '../../test-support/joined-node.ts';
import { controlCredential } from '../../test-support/node-double.ts';
import { loseNode } from '../nodes/lose-node.ts';
import { cordonNode, removeNode, uncordonNode } from '../nodes/manage-nodes.ts';
import { ensureTopology } from '../placement/ensure-topology.ts';
import { placeWaiting } from '../placement/move-installations.ts';
import { outdatedInstallations } from './route-queries.ts';

const everything: Grant = { id: 'endpoints.public', resources: ['*'] };

let platform: Constellation;
let owner: TestAccount;
let ingress: TestIngress;
let count = 0;

before(async () => {
  platform = await startConstellation();
  owner = await registerAccount(platform, 'publisher');
  ingress = await followTopology(platform, localCredential(platform.core));
});
after(() => platform.close());

interface Version {
  readonly version?: string;
  readonly routes?: readonly string[];
  readonly workload?: object;
}

/** A version that asks for everything that it declares, and for the right to declare more. */
function version({ version = '1.0.0', routes = [], workload = nodeWorkload }: Version): Record<string, unknown> {
  return { version, workload, publicEndpoints: routes, permissions: [everything] };
}

async function anApp(first: Version = { routes: ['GET:/a'] }): Promise<string> {
  count += 1;
  const appId = `changing-${count}`;
  await publish(owner, appId, version(first));
  await install(owner, appId, [everything]);
  return appId;
}

async function hostnameOf(appId: string): Promise<string | null> {
  return publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`)).hostname;
}

/** What the Ingress has of an app, with all that was changed until now; `null` for nothing. */
async function routeOf(appId: string): Promise<{ routes: readonly string[]; nodeId: string | null } | null> {
  const { context } = platform.core;
  const { rows } = await context.pool.query<{ revision: string }>('SELECT revision::text FROM topology_state');
  await ingress.until(({ revision }) => BigInt(revision() ?? 0) >= BigInt(rows[0]?.revision ?? 0));
  const route = ingress.routes.get(String(await hostnameOf(appId)));
  return route === undefined ? null : { routes: route.routes, nodeId: route.nodeId };
}

const upgrade = (appId: string, to: string, acceptResources = false) =>
  owner.browser.take(`/v1/apps/${appId}/upgrade`, { body: { version: to, acceptResources } });

test('an update changes the routes under the same name, and one without public routes has no name', async () => {
  const appId = await anApp();
  const hostname = await hostnameOf(appId);
  await publish(owner, appId, version({ version: '1.1.0', routes: ['GET:/a', 'POST:/b'] }));
  await publish(owner, appId, version({ version: '1.2.0' }));
  await upgrade(appId, '1.1.0');
  // What the former version did not declare nobody has read.
  assert.deepEqual((await routeOf(appId))?.routes, ['GET:/a']);
  assert.equal(await hostnameOf(appId), hostname);
  await upgrade(appId, '1.2.0');
  assert.equal(await routeOf(appId), null);
  assert.ok(!ingress.routes.has(String(hostname)));
});

test('a backend that came with an update is reached once it is reviewed', async () => {
  count += 1;
  const appId = `changing-${count}`;
  await publish(owner, appId, { permissions: [everything] });
  await install(owner, appId, [everything]);
  await publish(owner, appId, version({ version: '2.0.0', routes: ['GET:/a'] }));
  await upgrade(appId, '2.0.0');
  await owner.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions: [everything] } });
  assert.equal(await routeOf(appId), null);
  const before = publicAddress.parse(await owner.browser.take(`/v1/apps/${appId}/public`));
  assert.deepEqual(
    before.routes.map(({ state }) => state),
    ['no-backend'],
  );
  await upgrade(appId, '2.0.0', true);
  assert.deepEqual((await routeOf(appId))?.routes, ['GET:/a']);
});

test('an app that moves keeps its name; while it waits for a node, its route has none', async () => {
  const node = await joinTestNode(platform, 'moving-from');
  await cordonNode(platform.core.context, 'local');
  const appId = await anApp();
  assert.equal((await routeOf(appId))?.nodeId, node.id);
  const { rows } = await platform.core.context.pool.query<{ beat: string }>(
    'SELECT beat::text FROM nodes WHERE id = $1',
    [node.id],
  );
  await loseNode(platform.core.context, { id: node.id, name: node.name, beat: rows[0]?.beat ?? '' });
  assert.deepEqual(await routeOf(appId), { routes: ['GET:/a'], nodeId: null });
  await uncordonNode(platform.core.context, 'local');
  await placeWaiting(platform.core.context);
  assert.equal((await routeOf(appId))?.nodeId, platform.core.localNode.nodeId);
});

test('a node that is removed is gone from the topology in the revision that takes its apps from it', async () => {
  const node = await joinTestNode(platform, 'removed');
  const registration = {
    controlUrl: 'https://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: 'https://removed.example',
    publicSide: { url: 'https://127.0.0.1:9', credential: 'pni_of-the-test-of-the-node' },
  };
  assert.equal((await node.call('/v1/node/register', registration)).status, 204);
  await cordonNode(platform.core.context, 'local');
  const appId = await anApp({ routes: ['GET:/a'], workload: { ...nodeWorkload, volume: true } });
  await uncordonNode(platform.core.context, 'local');
  assert.equal((await routeOf(appId))?.nodeId, node.id);
  assert.equal(ingress.nodes.get(node.id), 'https://127.0.0.1:9');
  const known = BigInt(ingress.revision() ?? 0);
  await removeNode(platform.core.context, 'removed', 'with-volumes');
  assert.equal((await routeOf(appId))?.nodeId, null);
  assert.ok(!ingress.nodes.has(node.id));
  assert.equal(BigInt(ingress.revision() ?? 0), known + 1n);
});

test('the address of a node: a change of it is passed on, the same is not, and its credential is sealed', async () => {
  const node = await joinTestNode(platform, 'addressed');
  const { pool } = platform.core.context;
  const revision = async () => (await pool.query('SELECT revision::text FROM topology_state')).rows[0].revision;
  const register = async (publicSide: object | undefined) => {
    const body = { controlUrl: 'https://127.0.0.1:9/control', controlCredential, inboundOrigin: 'https://a.example' };
    return node.call('/v1/node/register', { ...body, publicSide });
  };
  const side = { url: 'https://127.0.0.1:8792', credential: 'pni_secret-of-the-public-side' };
  assert.equal((await register(side)).status, 204);
  const first = await revision();
  assert.equal((await register(side)).status, 204);
  assert.equal(await revision(), first);
  assert.equal((await register({ ...side, credential: 'pni_another-of-the-public-side' })).status, 204);
  assert.notEqual(await revision(), first);
  const { rows } = await pool.query('SELECT credential FROM topology_nodes WHERE node_id = $1', [node.id]);
  assert.ok(!String(rows[0].credential).includes('pni_'));
  for (const url of [
    'http://127.0.0.1:8792',
    'https://127.0.0.1:8792/path',
    'https://user@127.0.0.1:8792',
    'ftp://127.0.0.1',
    'https://shell.platform.localhost:8792',
    'https://x.public.platform.localhost',
  ]) {
    const refused = await register({ ...side, url });
    assert.deepEqual([refused.status, problemCode(refused)], [400, 'invalid_request'], url);
  }
  assert.equal((await register(undefined)).status, 204);
  await ingress.until(({ nodes }) => !nodes.has(node.id));
});

test('an address on the loopback interface is given to the Ingress of that machine alone', async () => {
  const { nodeId, nodeCredential } = platform.core.localNode;
  const body = {
    controlUrl: 'http://127.0.0.1:9/control',
    controlCredential,
    inboundOrigin: platform.core.context.config.nodeOrigin,
  };
  const publicSide = { url: 'http://127.0.0.1:9', credential: 'pni_of-the-test-of-the-node' };
  const registered = await bearer(platform, nodeCredential, '/v1/node/register', { ...body, publicSide });
  assert.equal(registered.status, 204, registered.text);
  await ingress.until(({ nodes }) => nodes.has(nodeId));
  const { ingressCredential } = await joinTestIngress(platform, 'far');
  const far = await followTopology(platform, ingressCredential);
  assert.ok(!far.nodes.has(nodeId));
  far.close();
});

test('what a former version changed is brought up to date at the start, and nothing else', async () => {
  const [changed, left, unnamed] = [await anApp(), await anApp(), await anApp()];
  const { pool, database } = platform.core.context;
  const former = await hostnameOf(left);
  // As a version does that knows no public routes.
  await pool.query("UPDATE installations SET grants = '[]', revision = revision + 1 WHERE app_id = $1", [changed]);
  await pool.query('DELETE FROM public_names WHERE installation_id = $1', [
    (await installationRow(platform, owner, unnamed)).id,
  ]);
  assert.equal((await outdatedInstallations(database, '', 10)).length, 2);
  await ensureTopology(platform.core.context);
  assert.equal(await routeOf(changed), null);
  assert.deepEqual((await routeOf(unnamed))?.routes, ['GET:/a']);
  assert.equal(await hostnameOf(left), former);
  const known = ingress.revision();
  await ensureTopology(platform.core.context);
  await routeOf(left);
  assert.equal(ingress.revision(), known);
});

test('another domain gives every app another host, and every Ingress a snapshot', async () => {
  const appId = await anApp();
  const hostname = String(await hostnameOf(appId));
  await routeOf(appId);
  const { context } = platform.core;
  const moved = { ...context, config: { ...context.config, ingressDomain: 'elsewhere.localhost' } };
  const seen = ingress.lines.length;
  await ensureTopology(moved);
  await ingress.until(({ lines }) => lines.slice(seen).some(({ kind }) => kind === 'current'));
  assert.equal(ingress.lines[seen]?.kind, 'snapshot');
  await ensureTopology(context);
  assert.equal(await hostnameOf(appId), hostname);
});

test('neither a launch nor the session says where an app is on the internet', async () => {
  const appId = await anApp();
  const hostname = String(await hostnameOf(appId));
  const label = hostname.slice(hostname.lastIndexOf('--') + 2, hostname.indexOf('.'));
  const opened = JSON.stringify(await launch(owner, appId));
  const [session, apps] = [await owner.fetch('/v1/auth/session'), await owner.fetch('/v1/apps')];
  for (const text of [opened, session.text, apps.text]) assert.ok(!text.includes(label));
});

test('changes of all kinds at the same time leave what each of them alone would', async () => {
  const apps = [await anApp(), await anApp(), await anApp()];
  for (const appId of apps) await publish(owner, appId, version({ version: '1.1.0', routes: ['GET:/a', 'GET:/b'] }));
  const put = (appId: string, permissions: readonly Grant[]) =>
    owner.fetch(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
  for (let round = 0; round < 4; round += 1) {
    await Promise.all([
      owner.fetch('/v1/runtime/pause', { body: {} }),
      ...apps.flatMap((appId, index) => [
        put(appId, round % 2 === 0 ? [] : [everything]),
        owner.fetch(`/v1/apps/${appId}/upgrade`, { body: { version: (round + index) % 2 === 0 ? '1.1.0' : '1.0.0' } }),
        owner.fetch(`/v1/apps/${appId}/public/renew`, { body: {} }),
      ]),
      owner.fetch(`/v1/apps/${apps[0]}`, { method: 'DELETE' }),
      owner.fetch('/v1/runtime/resume', { body: {} }),
    ]);
    await owner.fetch('/v1/apps', { body: { appId: apps[0], permissions: [everything] } });
  }
  // No two of them waited for each other.
  assert.deepEqual(
    platform.log.filter(({ level }) => level === 'error'),
    [],
  );
  const { context } = platform.core;
  assert.deepEqual(await outdatedInstallations(context.database, '', 10), []);
  // Computed anew, all is as it is.
  await routeOf(apps[1] ?? '');
  const known = ingress.revision();
  await context.pool.query('UPDATE public_names SET computed_of = NULL');
  await ensureTopology(context);
  await routeOf(apps[1] ?? '');
  assert.equal(ingress.revision(), known);
});
