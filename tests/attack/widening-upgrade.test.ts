// A publisher against the review: whatever a later version, a manifest or a page of its app says, an installation has what
// its owner reviewed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Assignment, Assignments, Grant, PermissionsView } from '@platform/contract';
import { bearer, install, launch, nodeWorkload, publish } from '../../packages/core/test-support/apps.ts';
import { registerAccount, type TestAccount } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
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

async function assignmentOf(appId: string): Promise<Assignment> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/assignments');
  const found = (answer.json as Assignments).items.find((item) => item.appId === appId);
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

test('a later version cannot take more memory, processors, processes or disk, nor run all the time', async () => {
  const before = { memoryMiB: 64, cpus: 0.25, pids: 16, diskMiB: 50 };
  const first = { ...nodeWorkload, volume: true, resources: before };
  await publish(publisher, 'growing', { workload: first });
  for (const [index, workload] of [
    { ...first, mode: 'always' },
    { ...first, resources: { ...before, memoryMiB: 4_096 } },
    { ...first, resources: { ...before, cpus: 8 } },
    { ...first, resources: { ...before, pids: 4_000 } },
    { ...first, resources: { ...before, diskMiB: 500_000 } },
  ].entries())
    await publish(publisher, 'growing', { version: `2.${index}.0`, workload });
  await owner.browser.take('/v1/apps', { body: { appId: 'growing', version: '1.0.0' } });
  for (const minor of [0, 1, 2, 3, 4]) {
    await upgrade('growing', `2.${minor}.0`);
    const { desired, workload } = await assignmentOf('growing');
    assert.deepEqual([desired, workload.mode, workload.resources], ['automatic', 'automatic', before], `2.${minor}.0`);
  }
});

test('a later version cannot begin to keep data, nor bring a large backend where there was none', async () => {
  const resources = { memoryMiB: 8_192, cpus: 16, pids: 4_000, diskMiB: 100_000 };
  await publish(publisher, 'dataless', { workload: nodeWorkload });
  await publish(publisher, 'dataless', { version: '2.0.0', workload: { ...nodeWorkload, volume: true, resources } });
  await publish(publisher, 'page');
  await publish(publisher, 'page', {
    version: '2.0.0',
    workload: { ...nodeWorkload, mode: 'always', volume: true, resources },
  });
  for (const appId of ['dataless', 'page']) {
    await owner.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
    await upgrade(appId, '2.0.0');
    const { desired, workload } = await assignmentOf(appId);
    assert.deepEqual([desired, workload.volume, workload.resources.memoryMiB], ['automatic', false, 256], appId);
  }
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
