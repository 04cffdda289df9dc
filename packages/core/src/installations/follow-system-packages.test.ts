// The system apps of every account follow the platform at its start, and take no right with them that was not theirs.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import type { PermissionsView } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { ensureSystemPackages } from '../catalog/versions/system-packages.ts';
import { followSystemPackages } from './follow-system-packages.ts';

let constellation: Constellation;
let account: TestAccount;

before(async () => {
  constellation = await startConstellation();
  account = await registerAccount(constellation, 'follower');
});
after(() => constellation.close());

interface App {
  readonly appId: string;
  readonly version: string;
}

async function launcherVersion(): Promise<string | undefined> {
  const { items } = await account.browser.take<{ items: App[] }>('/v1/apps');
  return items.find(({ appId }) => appId === 'launcher')?.version;
}

/** What a start does with a platform that came with this launcher. */
async function ship(version: string, permissions: readonly unknown[], workload?: object): Promise<void> {
  const file = path.join(constellation.directory, 'shipped.tgz');
  const manifest = testManifest('launcher', { version, permissions, ...(workload && { workload }) });
  const files = {
    'frontend/index.html': '<!doctype html><title>t</title>',
    ...(workload && { 'workload/main.js': '' }),
  };
  await writeFile(file, await buildTestPackage({ manifest, files }));
  const { context } = constellation.core;
  await followSystemPackages(context, await ensureSystemPackages(context, [{ path: file }]));
}

const CATALOG = { id: 'apps.catalog.read', resources: ['*'] };
const PROFILE = { id: 'account.profile.read', resources: ['self'] };

async function grantsOf(): Promise<unknown> {
  return (await account.browser.take<{ permissions: unknown }>('/v1/apps/launcher/permissions')).permissions;
}

test('installed system apps have the version the platform came with, however versions compare', async () => {
  for (const version of ['1.0.0+ffff', '1.0.0+0000', '1.1.0', '1.0.9', '1.1.0']) {
    await ship(version, []);
    assert.equal(await launcherVersion(), version);
  }
});

test('an account made afterwards has the same version', async () => {
  await ship('1.0.0+aaaa', []);
  const other = await registerAccount(constellation, 'latecomer');
  const { items } = await other.browser.take<{ items: App[] }>('/v1/apps');
  assert.equal(items.find(({ appId }) => appId === 'launcher')?.version, '1.0.0+aaaa');
});

test('grants never grow with a new version, and shrink to what it requests', async () => {
  await ship('2.0.0', [CATALOG]);
  assert.deepEqual(await grantsOf(), []);
  const put = await account.fetch('/v1/apps/launcher/permissions', { method: 'PUT', body: { permissions: [CATALOG] } });
  assert.equal(put.status, 200, put.text);
  await ship('2.1.0', [CATALOG, PROFILE]);
  assert.deepEqual(await grantsOf(), [CATALOG]);
  await ship('2.2.0', [PROFILE]);
  assert.deepEqual(await grantsOf(), []);
});

test('a backend of the platform has the resources of its new version, and its volume never shrinks', async () => {
  const granted = async () =>
    (await account.browser.take<PermissionsView>('/v1/apps/launcher/permissions')).resources?.granted;
  const workload = { runtime: 'node', entry: 'main.js', volume: true };
  await ship('2.3.0', [], { ...workload, resources: { memoryMiB: 64, diskMiB: 50 } });
  assert.deepEqual([(await granted())?.memoryMiB, (await granted())?.diskMiB], [64, 50]);
  await ship('2.4.0', [], { ...workload, mode: 'always', resources: { memoryMiB: 96, diskMiB: 20 } });
  assert.deepEqual(await granted(), {
    mode: 'always',
    idleSeconds: 300,
    memoryMiB: 96,
    cpus: 1,
    pids: 64,
    diskMiB: 50,
  });
  await ship('2.5.0', []);
  assert.equal(await granted(), undefined);
});

test('apps of other publishers stay as they are', async () => {
  const manifest = testManifest('own-app');
  const body = await buildTestPackage({ manifest });
  const headers = { 'content-type': 'application/gzip' };
  const published = await account.fetch('/v1/catalog/own-app/versions/1.0.0', { method: 'PUT', body, headers });
  assert.equal(published.status, 201, published.text);
  await account.browser.take('/v1/apps', { body: { appId: 'own-app' } });
  const { hash } = published.json as { hash: string };
  await followSystemPackages(constellation.core.context, [hash]);
  await ship('3.0.0', []);
  const { items } = await account.browser.take<{ items: App[] }>('/v1/apps');
  assert.equal(items.find(({ appId }) => appId === 'own-app')?.version, '1.0.0');
});
