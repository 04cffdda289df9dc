// The SDK for workloads, as a workload uses it: through a real Gateway to a real core.
import { strict as assert } from 'node:assert';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type ListeningGateway, startGateway } from '@platform/gateway';
import { newEnvelopeKey } from '@platform/link';
import { Notifications, PlatformError, PlatformServicesClient } from '@platform/sdk';
import { buildSdk } from '@platform/sdk/build';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { SUITE_GRANTS, withTopic } from './suite/notification-cases.ts';

const GATEWAY_TOKEN = `pgw_${'t'.repeat(43)}`;

let constellation: Constellation;
let account: TestAccount;
let gateway: ListeningGateway;
let client: PlatformServicesClient;

before(async () => {
  constellation = await startConstellation();
  account = await registerAccount(constellation, 'sdk-user');
  const permissions = [
    ...withTopic('notes'),
    { id: 'search.index', resources: ['self'] },
    { id: 'apps.catalog.read', resources: ['sdk-suite', 'launcher'] },
  ];
  const coreServiceCredential = await install('sdk-suite', permissions);
  gateway = await startGateway({
    installationId: 'inst-of-the-test',
    appOrigin: 'http://sdk-suite.invalid',
    coreOrigin: `http://127.0.0.1:${constellation.port}`,
    coreHost: new URL(constellation.origin).host,
    gatewayCredential: GATEWAY_TOKEN,
    coreServiceCredential,
    envelopeKey: await newEnvelopeKey(),
    policy: { revision: 0 },
    listen: { host: '127.0.0.1', port: 0 },
    inbound: { socketPath: path.join(tmpdir(), 'no-workload-listens-here') },
    onActivity: () => {},
    log: () => {},
  });
  client = PlatformServicesClient.fromEnv({ PLATFORM_API_URL: apiUrl(), PLATFORM_GATEWAY_TOKEN: GATEWAY_TOKEN });
});
after(async () => {
  await gateway?.close();
  await constellation?.close();
});

function apiUrl(): string {
  const address = gateway.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/** @returns what core gives the Runtime for one start of the workload */
async function install(appId: string, permissions: unknown): Promise<string> {
  const manifest = testManifest(appId, { permissions, workload: { runtime: 'node', entry: 'main.mjs' } });
  const files = { 'frontend/index.html': '<!doctype html>', 'workload/main.mjs': '' };
  const published = await account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: await buildTestPackage({ manifest, files }),
  });
  assert.equal(published.status, 201, published.text);
  await account.browser.take('/v1/apps', { body: { appId } });
  const { context, localNode } = constellation.core;
  const sql = 'SELECT id FROM installations WHERE app_id = $1';
  const { rows } = await context.pool.query<{ id: string }>(sql, [appId]);
  const headers = { authorization: `Bearer ${localNode.nodeCredential}`, cookie: undefined, origin: undefined };
  const start = `/v1/node/installations/${rows[0]?.id}/starts`;
  return (await account.browser.take<{ coreServiceCredential: string }>(start, { headers, body: {} }))
    .coreServiceCredential;
}

async function found(query: string): Promise<string[]> {
  const { items } = await account.browser.take<{ items: { id: string }[] }>(`/v1/search?q=${query}`);
  return items.map(({ id }) => id).sort();
}

test('entries are indexed, changed, removed and cleared, and the search of the account follows', async () => {
  const { search } = client;
  assert.equal(await search.replace([{ id: 'a', title: 'Aardvark', url: '/a' }]), 1);
  assert.deepEqual(await found('aardvark'), ['a']);
  const entries = [
    { id: 'b', title: 'Badger', url: '?b=1', kind: 'animal', text: 'aardvark' },
    { id: 'c d', title: 'Aardvark too', url: '/c' },
  ];
  assert.equal(await search.upsert(entries), 2);
  assert.deepEqual(await found('aardvark'), ['a', 'b', 'c d']);
  await search.remove('c d');
  assert.deepEqual(await found('aardvark'), ['a', 'b']);
  assert.equal(await search.replace([{ id: 'z', title: 'Aardvark last', url: '/z' }]), 1);
  assert.deepEqual(await found('aardvark'), ['z']);
  await search.clear();
  assert.deepEqual(await found('aardvark'), []);
});

for (const id of ['', '.', '..']) {
  test(`removing ${JSON.stringify(id)}, which an address would swallow, clears nothing`, async () => {
    await client.search.replace([{ id: 'kept', title: 'Pangolin', url: '/kept' }]);
    await assert.rejects(client.search.remove(id), { name: 'PlatformError', code: 'invalid_request' });
    assert.deepEqual(await found('pangolin'), ['kept']);
  });
}

test('the apps the grant covers are listed', async () => {
  const { items, nextCursor } = await client.listApps();
  assert.deepEqual(
    items.map(({ appId, installed }) => [appId, installed]),
    [
      ['launcher', true],
      ['sdk-suite', true],
    ],
  );
  assert.equal(nextCursor, null);
});

async function leases(): Promise<{ reason: string | null }[]> {
  const sql = 'SELECT reason FROM work_leases WHERE expires_at > $1';
  return (await constellation.core.context.pool.query<{ reason: string | null }>(sql, [new Date()])).rows;
}

test('a work lease is made, renewed and released, and each belongs to this installation', async () => {
  const lease = await client.acquireWorkLease({ durationSeconds: 15, reason: 'testing' });
  assert.deepEqual(await leases(), [{ reason: 'testing' }]);
  const former = lease.expiresAt;
  const renewed = await client.renewWorkLease(lease.id, { durationSeconds: 300 });
  assert.ok(renewed.getTime() > former.getTime() + 200_000);
  await lease.renew();
  assert.ok(lease.expiresAt >= renewed, 'the duration of the last renewal counts');
  await client.releaseWorkLease(lease.id);
  assert.deepEqual(await leases(), []);
  await assert.rejects(client.renewWorkLease(lease.id), { code: 'not_found', status: 404 });
  await assert.rejects(client.releaseWorkLease('.'), { code: 'invalid_request' });
  await assert.rejects(client.acquireWorkLease({ durationSeconds: 14 }), { code: 'invalid_request', status: 400 });
  await lease.release();
});

/** Does something as a process that the platform started. */
async function asWorkload<Value>(work: () => Promise<Value>): Promise<Value> {
  process.env.PLATFORM_API_URL = apiUrl();
  process.env.PLATFORM_GATEWAY_TOKEN = GATEWAY_TOKEN;
  try {
    return await work();
  } finally {
    delete process.env.PLATFORM_API_URL;
    delete process.env.PLATFORM_GATEWAY_TOKEN;
  }
}

test('notifications alone are had by their own name', async () => {
  await assert.rejects(Notifications.connect(), { code: 'not_launched' });
  const notifications = await asWorkload(() => Notifications.connect());
  const { topic } = await notifications.publish({ topic: 'suite.alone', title: 'Alone' });
  assert.equal(topic, 'suite.alone');
});

test('the inventory of the platform is refused to an app without its grant', async () => {
  await assert.rejects(client.system(), { name: 'PlatformError', code: 'grant_missing', status: 403 });
});

test('the example of a workload in the documentation runs as it stands, with the SDK as it is packed', async (t) => {
  const page = await readFile(new URL('../../docs/app-authors.md', import.meta.url), 'utf8');
  const [, code] = /```js\n(import \{ PlatformServicesClient \}[\s\S]*?)```/.exec(page) ?? [];
  assert.ok(code !== undefined);
  const folder = await mkdtemp(path.join(tmpdir(), 'sdk-example-'));
  t.after(() => rm(folder, { recursive: true }));
  await copyFile((await buildSdk()).workload, path.join(folder, 'platform-sdk.mjs'));
  await writeFile(path.join(folder, 'example.mjs'), `${code}\nexport { apps };`);
  const { apps } = await asWorkload(() => import(path.join(folder, 'example.mjs')));
  assert.deepEqual(
    apps.map(({ appId }: { appId: string }) => appId),
    ['launcher', 'sdk-suite'],
  );
  assert.deepEqual(await found('bread'), ['n1']);
  assert.deepEqual(await found('ideas'), []);
  const { items } = await account.browser.take<{ items: { title: string }[] }>('/v1/notifications?topic=notes');
  assert.deepEqual(
    items.map(({ title }) => title),
    ['Saved'],
  );
});

test('the example of a work lease in the documentation does what is said beside it', async () => {
  const page = await readFile(new URL('../../docs/app-authors.md', import.meta.url), 'utf8');
  const [, code = ''] = /```js\n(await using lease [\s\S]*?)```/.exec(page) ?? [];
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
  const seen: unknown[] = [];
  const convert = async (film: string, { signal }: { signal: AbortSignal }) => {
    seen.push([film, signal.aborted, await leases()]);
  };
  await new AsyncFunction('platform', 'films', 'convert', code)(client, ['one', 'two'], convert);
  const held = [{ reason: 'converting films' }];
  assert.deepEqual(seen, [
    ['one', false, held],
    ['two', false, held],
  ]);
  assert.deepEqual(await leases(), [], 'the end of the block released it');
});

test('a Gateway credential that is not the one of this start is refused', async () => {
  const stranger = new PlatformServicesClient({ apiUrl: apiUrl(), gatewayToken: `pgw_${'x'.repeat(43)}` });
  await assert.rejects(stranger.notifications.list(), { name: 'PlatformError', code: 'unauthenticated', status: 401 });
});

test('a revoked grant refuses the next call', async () => {
  const permissions = SUITE_GRANTS.filter(({ id }) => id === 'notifications.read');
  await account.browser.take('/v1/apps/sdk-suite/permissions', { method: 'PUT', body: { permissions } });
  const refused = client.notifications.publish({ topic: 'suite.revoked', title: 'No longer' });
  await assert.rejects(refused, (error) => error instanceof PlatformError && error.code === 'grant_missing');
});
