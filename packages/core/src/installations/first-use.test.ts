// An app that the platform gives every account takes nothing of a node before somebody uses its backend.
import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { type AccountDisk, MiB, type WorkloadDetail } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { installationRow, launchAny } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';
import { ensureSystemPackages } from '../catalog/versions/system-packages.ts';
import { listNodes } from '../nodes/manage-nodes.ts';
import { listBackends } from './backends.ts';
import { countInstallations, countPlaces } from './count-queries.ts';
import { followSystemPackages } from './follow-system-packages.ts';

const APP = 'launcher';
const DISK = 40;
const LIMIT = 100;

let platform: Constellation;
let node: NodeDouble;
let early: TestAccount;

before(async () => {
  platform = await startConstellation({ config: { accountDiskBytes: LIMIT * MiB } });
  node = await startNodeDouble(platform);
  early = await registerAccount(platform, 'early');
  await ship('2.0.0', {});
});
after(async () => {
  await platform.close();
  await node.close();
});

/** What a start does with a platform whose launcher has such a backend. */
async function ship(version: string, more: object): Promise<void> {
  const file = path.join(platform.directory, 'shipped.tgz');
  const workload = { runtime: 'node', entry: 'main.js', volume: true, resources: { diskMiB: DISK }, ...more };
  const files = { 'frontend/index.html': '<!doctype html><title>t</title>', 'workload/main.js': '' };
  await writeFile(file, await buildTestPackage({ manifest: testManifest(APP, { version, workload }), files }));
  const { context } = platform.core;
  await followSystemPackages(context, await ensureSystemPackages(context, [{ path: file }]));
}

interface Place {
  readonly placed: boolean;
  readonly waiting: boolean;
  readonly volume: boolean;
}
const NOWHERE: Place = { placed: false, waiting: false, volume: false };
const PLACED: Place = { placed: true, waiting: false, volume: true };

async function place({ name }: TestAccount): Promise<Place | undefined> {
  const { rows } = await platform.core.context.pool.query<Place>(
    `SELECT node_id IS NOT NULL AS placed, waiting, has_volume AS volume
       FROM installations i JOIN accounts a ON a.key = i.account_key WHERE a.name = $1 AND app_id = $2`,
    [name, APP],
  );
  return rows[0];
}
const volumes = async (account: TestAccount) => (await account.browser.take<AccountDisk>('/v1/account/disk')).volumes;
const promised = async () => (await listNodes(platform.core.context))[0]?.disk_promised_mib;

test('before its first use it is on no node, takes no disk and is in no list of backends', async () => {
  const late = await registerAccount(platform, 'late');
  for (const account of [early, late]) {
    assert.deepEqual(await place(account), NOWHERE);
    assert.deepEqual(await volumes(account), []);
  }
  const { database } = platform.core.context;
  assert.deepEqual(await listBackends(platform.core.context), []);
  assert.equal((await countInstallations(database)).states.unknown, 0);
  assert.deepEqual(await countPlaces(database), { waiting: 0, volumes: 0 });
  assert.deepEqual([(await listNodes(platform.core.context))[0]?.apps, await promised()], [0, 0]);
});

test('its state and its log can be read, and it can be stopped, without a node', async () => {
  const account = await registerAccount(platform, 'reader');
  const status = await account.browser.take<WorkloadDetail>(`/v1/apps/${APP}/status`);
  assert.deepEqual([status.state, status.stoppedBy], ['stopped', { kind: 'idle' }]);
  assert.deepEqual(await account.browser.take(`/v1/apps/${APP}/logs`), { items: [], nextCursor: null });
  const stopped = await account.browser.take<WorkloadDetail>(`/v1/apps/${APP}/stop`, { method: 'POST' });
  assert.deepEqual([stopped.state, stopped.stoppedBy], ['stopped', { kind: 'owner' }]);
  assert.deepEqual(await place(account), NOWHERE);
  assert.equal((await account.fetch(`/v1/apps/${APP}`, { method: 'DELETE' })).status, 204);
});

test('opened, started or called, it gets a node and its disk, once', async () => {
  const [opener, starter, called] = [
    await registerAccount(platform, 'opener'),
    await registerAccount(platform, 'starter'),
    await registerAccount(platform, 'called'),
  ];
  const launches = await Promise.all([1, 2, 3].map(() => launchAny(opener, APP)));
  for (const { backend } of launches) assert.ok(backend !== null);
  await starter.browser.take(`/v1/apps/${APP}/start`, { method: 'POST' });
  const { id } = await installationRow(platform, called, APP);
  const { backends } = platform.core.context;
  await backends.call(id, { method: 'GET', path: '/', signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  for (const account of [opener, starter, called]) {
    assert.deepEqual(await place(account), PLACED);
    assert.equal((await volumes(account)).length, 1);
  }
  assert.equal(await promised(), 3 * DISK);
  assert.equal((await listBackends(platform.core.context)).length, 3);
});

test('a later version does not place what nobody has used, unless it runs all the time', async () => {
  const account = await registerAccount(platform, 'waiter');
  await ship('2.1.0', {});
  assert.deepEqual(await place(account), NOWHERE);
  await ship('2.2.0', { mode: 'always' });
  assert.equal((await place(account))?.waiting, true);
});

test('an account without disk for it is told so, and it stays nowhere', async () => {
  await ship('2.3.0', { resources: { diskMiB: LIMIT + 1 } });
  const account = await registerAccount(platform, 'narrow');
  for (const way of ['launch', 'start']) {
    const answer = await account.fetch(`/v1/apps/${APP}/${way}`, { method: 'POST' });
    assert.deepEqual([answer.status, problemCode(answer)], [409, 'disk_quota'], answer.text);
  }
  assert.deepEqual(await place(account), NOWHERE);
});
