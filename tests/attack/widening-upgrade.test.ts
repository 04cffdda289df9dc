// A publisher against the review: whatever a later version, a manifest or a page of its app says, an installation has what
// its owner reviewed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Assignment, Assignments, Grant, PermissionsView, WorkloadStart } from '@platform/contract';
import {
  bearer,
  install,
  installationRow,
  launch,
  nodeWorkload,
  openFrontend,
  publish,
} from '../../packages/core/test-support/apps.ts';
import { registerLocalMachine } from '../../packages/core/test-support/joined-node.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { elf } from '../support/elf.ts';
import { buildTestPackage, testManifest } from '../support/packages.ts';
import { problemCode, rawRequest } from '../support/raw-http.ts';

const EVIL = 'https://evil.example';
const API = 'https://api.example';

let platform: Constellation;
let publisher: TestAccount;
let owner: TestAccount;

before(async () => {
  platform = await startConstellation();
  publisher = await registerAccount(platform, 'publisher');
  owner = await registerAccount(platform, 'reviewer');
});
after(() => platform.close());

const connect = (...resources: string[]): Grant => ({ id: 'network.connect', resources });

/** The policy the frontend is served with at this moment. */
async function policyOf(appId: string): Promise<string> {
  const { host } = new URL((await launch(owner, appId)).origin);
  const answer = await rawRequest({ port: platform.port, path: '/', headers: { host } });
  assert.equal(answer.status, 200);
  return String(answer.headers['content-security-policy']);
}

function view(appId: string): Promise<PermissionsView> {
  return owner.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`);
}

function grant(appId: string, permissions: readonly Grant[]) {
  return owner.browser.take(`/v1/apps/${appId}/permissions`, { method: 'PUT', body: { permissions } });
}

function upgrade(appId: string, version: string) {
  return owner.browser.take(`/v1/apps/${appId}/upgrade`, { body: { version } });
}

/** What the node is told to run of it. */
async function assignedTo(appId: string): Promise<Assignment | undefined> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/assignments');
  return (answer.json as Assignments).items.find((item) => item.appId === appId);
}

async function assignmentOf(appId: string): Promise<Assignment> {
  const found = await assignedTo(appId);
  assert.ok(found);
  return found;
}

test('a later version cannot open an origin by naming it in csp, whatever the owner granted before', async () => {
  const kinds = { connect: [EVIL], image: [EVIL], media: [EVIL] };
  for (const [appId, held] of [
    ['quiet', []],
    ['wildcard', [connect('*')]],
    ['prefix', [connect('https://*')]],
    ['other', [connect(API)]],
  ] as const) {
    const csp = appId === 'other' ? { connect: [API] } : undefined;
    await publish(publisher, appId, { permissions: held, ...(csp && { frontend: { entry: 'index.html', csp } }) });
    await publish(publisher, appId, {
      version: '2.0.0',
      frontend: { entry: 'index.html', csp: kinds },
      permissions: [connect(...(held[0]?.resources ?? []), EVIL)],
    });
    await owner.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
    await upgrade(appId, '2.0.0');
    assert.doesNotMatch(await policyOf(appId), /evil/, appId);
    await grant(appId, [connect(EVIL)]);
    assert.match(await policyOf(appId), /connect-src [^;]*evil[^;]*;/, `${appId}, after the review`);
  }
});

test('a later version cannot take more memory, processors, processes or disk, nor run longer or all the time', async () => {
  const before = { memoryMiB: 64, cpus: 0.25, pids: 16, diskMiB: 50 };
  const first = { ...nodeWorkload, volume: true, idleSeconds: 20, resources: before };
  await publish(publisher, 'growing', { workload: first });
  for (const [index, workload] of [
    { ...first, mode: 'always' },
    { ...first, resources: { ...before, memoryMiB: 4_096 } },
    { ...first, resources: { ...before, cpus: 8 } },
    { ...first, resources: { ...before, pids: 4_000 } },
    { ...first, resources: { ...before, diskMiB: 500_000 } },
    { ...first, idleSeconds: 86_400 },
    { ...first, mode: 'always', idleSeconds: 86_400 },
  ].entries())
    await publish(publisher, 'growing', { version: `2.${index}.0`, workload });
  await owner.browser.take('/v1/apps', { body: { appId: 'growing', version: '1.0.0' } });
  for (const minor of [0, 1, 2, 3, 4, 5, 6]) {
    await upgrade('growing', `2.${minor}.0`);
    const { desired, workload } = await assignmentOf('growing');
    const { mode, idleSeconds, resources } = workload;
    assert.deepEqual([desired, mode, idleSeconds, resources], ['automatic', 'automatic', 20, before], `2.${minor}.0`);
  }
});

test('a version that was reviewed cannot be deleted and published with other contents before it is installed', async () => {
  await publish(publisher, 'swapped', { workload: { ...nodeWorkload, resources: { memoryMiB: 64 } } });
  await owner.browser.take('/v1/catalog/swapped');
  const version = '/v1/catalog/swapped/versions/1.0.0';
  assert.equal((await publisher.fetch(version, { method: 'DELETE' })).status, 204);
  const workload = { ...nodeWorkload, mode: 'always', volume: true, resources: { memoryMiB: 4_096 } };
  const body = await buildTestPackage({
    manifest: testManifest('swapped', { workload }),
    files: { 'frontend/index.html': '', 'workload/main.js': '' },
  });
  const again = await publisher.fetch(version, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(problemCode(again), 'version_exists');
  const installed = await owner.fetch('/v1/apps', { body: { appId: 'swapped', version: '1.0.0', permissions: [] } });
  assert.equal(problemCode(installed), 'not_found');
});

test('a later version cannot begin to keep data', async () => {
  await publish(publisher, 'dataless', { workload: nodeWorkload });
  await publish(publisher, 'dataless', {
    version: '2.0.0',
    workload: { ...nodeWorkload, volume: true, resources: { diskMiB: 100_000 } },
  });
  await owner.browser.take('/v1/apps', { body: { appId: 'dataless', version: '1.0.0' } });
  await upgrade('dataless', '2.0.0');
  assert.equal((await assignmentOf('dataless')).workload.volume, false);
});

/** What a node gets that asks for the credentials of a start. */
async function startOf(appId: string) {
  const { id } = await installationRow(platform, owner, appId);
  return bearer(platform, platform.core.localNode.nodeCredential, `/v1/node/installations/${id}/starts`, {});
}

const modest = { memoryMiB: 32, cpus: 0.05, pids: 8 };

test('a first backend runs nowhere before its owner reviewed it, however little it asks for', async () => {
  for (const [appId, first, later] of [
    // There was none at all, or none any more.
    ['page', undefined, { ...nodeWorkload, resources: modest }],
    ['sleepless', undefined, { ...nodeWorkload, mode: 'always', volume: true, resources: modest }],
    ['returning', { ...nodeWorkload, resources: { memoryMiB: 512 } }, { ...nodeWorkload, resources: modest }],
  ] as const) {
    await publish(publisher, appId, { ...(first && { workload: first }) });
    await publish(publisher, appId, { version: '1.1.0' });
    const { hash } = await publish(publisher, appId, { version: '2.0.0', workload: later });
    await owner.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
    const former = first === undefined ? null : (await startOf(appId)).json;
    await upgrade(appId, '1.1.0');
    await upgrade(appId, '2.0.0');
    await upgrade(appId, '2.0.0');

    assert.equal(await assignedTo(appId), undefined, appId);
    const node = platform.core.localNode.nodeCredential;
    assert.equal(problemCode(await startOf(appId)), 'not_found', 'no credentials for a start');
    assert.equal((await bearer(platform, node, `/v1/node/packages/${hash}`)).status, 404);
    if (former !== null) {
      const { coreServiceCredential } = former as WorkloadStart;
      const answer = await bearer(platform, coreServiceCredential, '/v1/services/notifications');
      assert.equal(answer.status, 401, 'the credential of the former backend is dead');
    }
    const started = await owner.fetch(`/v1/apps/${appId}/start`, { body: {} });
    assert.deepEqual([started.status, problemCode(started)], [503, 'workload_unavailable']);
    assert.match(started.text, /allows it in Settings → Apps/);

    // Its frontend goes on, without a way to the backend.
    assert.equal((await launch(owner, appId)).backend, null);
    assert.equal((await openFrontend(platform, owner, appId)).capability.startsWith('pfc_'), true);
    assert.doesNotMatch(await policyOf(appId), new RegExp(RegExp.escape(platform.core.context.config.nodeOrigin)));
    assert.equal((await view(appId)).resources?.granted, null);

    await owner.browser.take(`/v1/apps/${appId}/upgrade`, { body: { version: '2.0.0', acceptResources: true } });
    assert.equal((await assignmentOf(appId)).workload.resources.memoryMiB, 32, `${appId}, after the review`);
    assert.equal((await startOf(appId)).status, 200);
    assert.notEqual((await launch(owner, appId)).backend, null);
  }
});

test('neither removing grants, stopping nor pausing lets an unreviewed backend run', async () => {
  await publish(publisher, 'detour', { permissions: [connect(API)] });
  await publish(publisher, 'detour', { version: '2.0.0', permissions: [connect(API)], workload: nodeWorkload });
  await owner.browser.take('/v1/apps', { body: { appId: 'detour', version: '1.0.0' } });
  await upgrade('detour', '2.0.0');
  await grant('detour', []);
  await grant('detour', [connect(API)]);
  for (const path of ['/v1/apps/detour/stop', '/v1/apps/detour/start']) await owner.fetch(path, { body: {} });
  await owner.browser.take('/v1/runtime/pause', { body: {} });
  await owner.browser.take('/v1/runtime/resume', { body: {} });
  assert.equal(await assignedTo('detour'), undefined);
  assert.equal(problemCode(await startOf('detour')), 'not_found');
});

const kinds: Readonly<Record<string, object>> = {
  'a container image': { runtime: 'oci', image: `registry.example/app@sha256:${'0'.repeat(64)}` },
  'an executable': { runtime: 'binary', entry: 'server' },
};
for (const [index, [what, kind]] of Object.entries(kinds).entries()) {
  test(`a later version that is ${what} runs within what was granted, without network, ports or object storage`, async () => {
    await registerLocalMachine(platform, { runtimes: ['node', 'binary', 'oci'], processor: 'x64' });
    const appId = `changeling-${index}`;
    const workload = { ...nodeWorkload, resources: modest };
    await publish(publisher, appId, { workload });
    const later = {
      version: '2.0.0',
      schemaVersion: 9,
      workload: { ...kind, mode: 'always', volume: true, resources: { memoryMiB: 8_192, cpus: 8 } },
      permissions: [
        { id: 'network.public', resources: ['*'] },
        { id: 'runtime.network-tunnel', resources: ['*'] },
        { id: 'endpoints.public.udp', resources: ['UDP:5000', 'UDP:auto'] },
        { id: 'endpoints.public', resources: ['GET:/*'] },
        { id: 'object-storage.raw', resources: ['self'] },
      ],
      publicPorts: [
        { name: 'game', protocol: 'udp', containerPort: 5_000 },
        { name: 'voice', protocol: 'udp', containerPort: 'auto' },
      ],
      publicEndpoints: ['GET:/*'],
    };
    await publish(publisher, appId, later, { 'workload/server': elf({ machine: 'x64' }) });
    await owner.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
    await upgrade(appId, '2.0.0');
    const { desired, workload: now, network, udpPorts, objectStorage } = await assignmentOf(appId);
    assert.deepEqual([desired, now.mode, now.volume], ['automatic', 'automatic', false]);
    const { memoryMiB, cpus, pids } = now.resources;
    assert.deepEqual({ memoryMiB, cpus, pids }, modest);
    assert.deepEqual([network, udpPorts, objectStorage], [{ public: false, tunnel: false }, [], false]);
    assert.deepEqual((await view(appId)).permissions, []);
    await registerLocalMachine(platform, {});
  });
}

test('a first frontend holds what its installation was granted, and reaches no outside origin', async () => {
  const held: Grant = { id: 'notifications.publish', resources: ['news'] };
  await publish(publisher, 'faceless', { frontend: undefined, workload: nodeWorkload, permissions: [held] });
  await publish(publisher, 'faceless', {
    version: '2.0.0',
    frontend: { entry: 'index.html', csp: { connect: [EVIL], image: [EVIL], media: [EVIL] } },
    workload: nodeWorkload,
    permissions: [connect(EVIL), { id: 'notifications.publish', resources: ['*'] }],
  });
  await owner.browser.take('/v1/apps', { body: { appId: 'faceless', version: '1.0.0' } });
  await upgrade('faceless', '2.0.0');
  assert.doesNotMatch(await policyOf('faceless'), /evil/);
  assert.deepEqual((await launch(owner, 'faceless')).permissions, [held]);
});

test('going back and forth between versions gathers nothing', async () => {
  await publish(publisher, 'pendulum', { workload: { ...nodeWorkload, resources: { memoryMiB: 64 } } });
  await publish(publisher, 'pendulum', {
    version: '2.0.0',
    frontend: { entry: 'index.html', csp: { image: [EVIL] } },
    permissions: [connect(EVIL)],
    workload: { ...nodeWorkload, mode: 'always', resources: { memoryMiB: 1_024 } },
  });
  await owner.browser.take('/v1/apps', { body: { appId: 'pendulum', version: '1.0.0' } });
  for (const version of ['2.0.0', '1.0.0', '2.0.0', '2.0.0']) await upgrade('pendulum', version);
  assert.doesNotMatch(await policyOf('pendulum'), /evil/);
  const { desired, workload } = await assignmentOf('pendulum');
  assert.deepEqual([desired, workload.resources.memoryMiB], ['automatic', 64]);
});

test('a revoked origin is in no policy any more, and comes back by a review alone', async () => {
  await publish(publisher, 'revoked', {
    frontend: { entry: 'index.html', csp: { connect: [API], image: [API], media: [API] } },
    permissions: [connect(API)],
  });
  await publish(publisher, 'revoked', {
    version: '2.0.0',
    frontend: { entry: 'index.html', csp: { connect: [API], image: [API], media: [API] } },
    permissions: [connect(API)],
  });
  await owner.browser.take('/v1/apps', { body: { appId: 'revoked', version: '1.0.0' } });
  assert.match(await policyOf('revoked'), /api\.example/);
  await grant('revoked', []);
  assert.doesNotMatch(await policyOf('revoked'), /api\.example/);
  await upgrade('revoked', '2.0.0');
  assert.doesNotMatch(await policyOf('revoked'), /api\.example/, 'an upgrade grants nothing');
  await grant('revoked', [connect(API)]);
  assert.match(await policyOf('revoked'), /api\.example/);
});

test('an owner who leaves an origin out at installation gets a policy without it', async () => {
  await publish(publisher, 'declined', {
    frontend: { entry: 'index.html', csp: { connect: [API, EVIL] } },
    permissions: [connect(API, EVIL)],
  });
  await install(owner, 'declined', [connect(API)]);
  const policy = await policyOf('declined');
  assert.match(policy, /connect-src [^;]*https:\/\/api\.example;/);
  assert.doesNotMatch(policy, /evil/);
});

const tricks = [
  'https:',
  '*',
  'https://*',
  'https://*.example',
  'data:',
  'blob:',
  'http://api.example',
  'wss://api.example',
  "'unsafe-eval'",
  "https://api.example 'unsafe-eval'",
  'https://api.example; script-src *',
  'https://api.example;script-src',
  'https://api.example,https://evil.example',
  'https://аpple.com',
];

test('a manifest whose csp holds a wildcard, another scheme, a directive or a lookalike is refused', async () => {
  for (const [index, trick] of tricks.entries()) {
    for (const kind of ['connect', 'image', 'media']) {
      const appId = `trick-${index}-${kind}`;
      const manifest = testManifest(appId, {
        frontend: { entry: 'index.html', csp: { [kind]: [trick] } },
        permissions: [connect('*')],
      });
      const answer = await publisher.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
        method: 'PUT',
        body: await buildTestPackage({ manifest }),
        headers: { 'content-type': 'application/gzip' },
      });
      assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], `${kind} ${trick}`);
    }
  }
});

test('a package from before these rules gets nothing into its policy but plain origins that are granted', async () => {
  await publish(publisher, 'older');
  const { pool } = platform.core.context;
  const csp = { connect: [...tricks, `${API}/v1`], image: [...tricks], media: [...tricks] };
  await pool.query(
    `UPDATE app_versions SET manifest = jsonb_set(manifest, '{frontend,csp}', $1::jsonb) WHERE app_id = 'older'`,
    [JSON.stringify(csp)],
  );
  await install(owner, 'older');
  // Its origins are asked for like any others, with a lookalike in the form that shows it.
  assert.deepEqual((await view('older')).requested, [connect('https://xn--pple-43d.com', API)]);
  const policy = await policyOf('older');
  assert.match(policy, /connect-src 'self' \S+ https:\/\/xn--pple-43d\.com https:\/\/api\.example;/);
  for (const directive of [
    "script-src 'self'",
    "img-src 'self' data: blob: https://xn--pple-43d.com",
    "frame-src 'none'",
  ])
    assert.ok(policy.split('; ').includes(directive), directive);
  await grant('older', [connect(API)]);
  assert.doesNotMatch(await policyOf('older'), /xn--|unsafe-eval|\*/);
});
