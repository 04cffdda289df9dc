// What a backend may use is part of an installation's snapshot: the review grants it, and a change of version only within it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Assignments, BackendResources, CatalogDetail, InstalledApp, PermissionsView } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { bearer, install, installationRow, nodeWorkload, publish } from '../../test-support/apps.ts';
import { registerLocalMachine } from '../../test-support/joined-node.ts';

const small = { mode: 'automatic', idleSeconds: 60, memoryMiB: 128, cpus: 0.5, pids: 32, diskMiB: 100 } as const;
const big = { mode: 'always', idleSeconds: 600, memoryMiB: 512, cpus: 2, pids: 128, diskMiB: 400 } as const;

let platform: Constellation;
let account: TestAccount;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'keeper');
});
after(() => platform.close());

function workloadOf({ mode, idleSeconds, diskMiB, ...rest }: BackendResources): object {
  const volume = diskMiB > 0;
  return { ...nodeWorkload, mode, idleSeconds, volume, resources: volume ? { ...rest, diskMiB } : rest };
}

/** Version 1.0.0 with the first, 2.0.0 with the second and so on; `null` has no backend. Installs 1.0.0. */
async function versions(appId: string, ...all: readonly (BackendResources | null)[]): Promise<void> {
  for (const [index, one] of all.entries()) {
    await publish(account, appId, {
      version: `${index + 1}.0.0`,
      ...(one === null ? {} : { workload: workloadOf(one) }),
    });
  }
  await account.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
}

function upgrade(appId: string, version: string, acceptResources?: boolean) {
  const body = acceptResources === undefined ? { version } : { version, acceptResources };
  return account.browser.take(`/v1/apps/${appId}/upgrade`, { body });
}

async function resourcesOf(appId: string): Promise<PermissionsView['resources']> {
  return (await account.browser.take<PermissionsView>(`/v1/apps/${appId}/permissions`)).resources;
}

async function shown(appId: string): Promise<Pick<InstalledApp, 'hasWorkload' | 'hasUnreviewedWorkload'>> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps?limit=200');
  const app = items.find((item) => item.appId === appId);
  assert.ok(app);
  const { hasWorkload, hasUnreviewedWorkload } = app;
  return { hasWorkload, hasUnreviewedWorkload };
}

/** What the node is told to hold it to. */
async function assigned(appId: string): Promise<object | undefined> {
  const answer = await bearer(platform, platform.core.localNode.nodeCredential, '/v1/node/assignments');
  const one = (answer.json as Assignments).items.find((item) => item.appId === appId);
  if (one === undefined) return undefined;
  const { desired, workload } = one;
  const { memoryMiB, cpus, pids, diskMiB } = workload.resources;
  return {
    mode: desired,
    idleSeconds: workload.idleSeconds,
    memoryMiB,
    cpus,
    pids,
    diskMiB: workload.volume ? diskMiB : 0,
  };
}

test('an installation is granted what its version asks for, and its node is told that', async () => {
  await versions('granted', small);
  assert.deepEqual(await resourcesOf('granted'), { runtime: 'node', granted: small, requested: small });
  assert.deepEqual(await assigned('granted'), small);
  await publish(account, 'plain');
  await install(account, 'plain');
  assert.equal(await resourcesOf('plain'), null);
});

test('a version that asks for more runs with what was granted, until the owner accepts', async () => {
  await versions('hungry', small, big);
  await upgrade('hungry', '2.0.0');
  assert.deepEqual(await resourcesOf('hungry'), { runtime: 'node', granted: small, requested: big });
  assert.deepEqual(await assigned('hungry'), small);
  await upgrade('hungry', '2.0.0', true);
  assert.deepEqual(await resourcesOf('hungry'), { runtime: 'node', granted: big, requested: big });
  assert.deepEqual(await assigned('hungry'), big);
});

test('acceptance with the change of version counts at once', async () => {
  await versions('accepted', small, big);
  await upgrade('accepted', '2.0.0', true);
  assert.deepEqual(await assigned('accepted'), big);
});

test('a version that stays awake for longer goes to sleep as before, until the owner accepts', async () => {
  const sleepless = { ...small, idleSeconds: 86_400 };
  await versions('sleepy', small, sleepless, small);
  await upgrade('sleepy', '2.0.0');
  assert.deepEqual(await resourcesOf('sleepy'), { runtime: 'node', granted: small, requested: sleepless });
  assert.deepEqual(await assigned('sleepy'), small);
  await upgrade('sleepy', '2.0.0', true);
  assert.deepEqual(await assigned('sleepy'), sleepless);
  await upgrade('sleepy', '3.0.0');
  await upgrade('sleepy', '2.0.0');
  assert.deepEqual(await assigned('sleepy'), small, 'the version between gave it up');
});

test('a snapshot of a version of the platform that knew no idle time has the one of its manifest', async () => {
  await versions('unknowing', small, { ...small, idleSeconds: 86_400 });
  const { id } = await installationRow(platform, account, 'unknowing');
  await platform.core.context.pool.query(
    "UPDATE installations SET resources = resources - 'idleSeconds' WHERE id = $1",
    [id],
  );
  assert.deepEqual(await assigned('unknowing'), small);
});

test('a version that asks for less gives the rest back, but for the size of its volume', async () => {
  await versions('modest', big, small, big);
  await upgrade('modest', '2.0.0');
  assert.deepEqual(await assigned('modest'), { ...small, diskMiB: 400 });
  await upgrade('modest', '3.0.0');
  assert.deepEqual(await assigned('modest'), { ...small, diskMiB: 400 }, 'nothing comes back');
});

test('a first backend is placed nowhere and does not run, until the owner accepts it', async () => {
  await versions('first', null, big);
  await upgrade('first', '2.0.0');
  assert.deepEqual(await resourcesOf('first'), { runtime: 'node', granted: null, requested: big });
  assert.equal(await assigned('first'), undefined);
  assert.equal((await installationRow(platform, account, 'first')).node_id, null);
  assert.equal((await volumeOf('first')).has_volume, false);
  assert.deepEqual(await shown('first'), { hasWorkload: false, hasUnreviewedWorkload: true });
  for (const [method, path] of [
    ['POST', 'start'],
    ['POST', 'stop'],
    ['GET', 'status'],
    ['GET', 'logs'],
    ['GET', 'logs/stream'],
  ] as const) {
    const answer = await account.fetch(`/v1/apps/first/${path}`, { method });
    assert.deepEqual([answer.status, problemCode(answer)], [503, 'workload_unavailable'], path);
    assert.match(answer.text, /stays off until the owner of the app allows it in Settings → Apps/);
  }
  await upgrade('first', '2.0.0', true);
  assert.deepEqual(await resourcesOf('first'), { runtime: 'node', granted: big, requested: big });
  assert.deepEqual(await assigned('first'), big);
  assert.equal((await volumeOf('first')).has_volume, true);
  assert.deepEqual(await shown('first'), { hasWorkload: true, hasUnreviewedWorkload: false });
});

test('an upgrade that brings a first backend needs no room for it before the owner accepts it', async () => {
  await versions('roomless', null, { ...big, memoryMiB: 2_048 });
  await registerLocalMachine(platform, { memoryMiB: 1_024 });
  await upgrade('roomless', '2.0.0');
  const answer = await account.fetch('/v1/apps/roomless/upgrade', {
    body: { version: '2.0.0', acceptResources: true },
  });
  assert.deepEqual([answer.status, problemCode(answer)], [503, 'unavailable'], answer.text);
  assert.equal((await resourcesOf('roomless'))?.granted, null);
  await registerLocalMachine(platform, {});
});

test('a backend that comes back after a version without one is a first one, and keeps its volume', async () => {
  await versions('again', small, null, small);
  const { node_id: node } = await installationRow(platform, account, 'again');
  await upgrade('again', '2.0.0');
  await upgrade('again', '3.0.0');
  assert.equal(await assigned('again'), undefined);
  assert.deepEqual(await volumeOf('again'), { has_volume: true, disk: 100 });
  await upgrade('again', '3.0.0', true);
  assert.deepEqual(await assigned('again'), small);
  assert.equal((await installationRow(platform, account, 'again')).node_id, node, 'where its volume is');
});

test('a volume keeps its size through versions without one, a removal and a smaller installation', async () => {
  await versions('keeping', big, null, small);
  await upgrade('keeping', '2.0.0');
  assert.equal((await volumeOf('keeping')).disk, 400);
  await account.fetch('/v1/apps/keeping', { method: 'DELETE' });
  await account.browser.take('/v1/apps', { body: { appId: 'keeping', version: '3.0.0' } });
  assert.deepEqual(await assigned('keeping'), { ...small, diskMiB: 400 });
});

test('a row of a version of the platform without snapshots has what its manifest asks for', async () => {
  await versions('former', small, big);
  const { id } = await installationRow(platform, account, 'former');
  await platform.core.context.pool.query('UPDATE installations SET resources = NULL WHERE id = $1', [id]);
  assert.deepEqual(await assigned('former'), small);
  await upgrade('former', '2.0.0');
  assert.deepEqual(await assigned('former'), small);
});

test('what is accepted has to fit on the machine', async () => {
  await versions('tight', small, { ...big, memoryMiB: 2_048 });
  await registerLocalMachine(platform, { memoryMiB: 1_024 });
  const answer = await account.fetch('/v1/apps/tight/upgrade', { body: { version: '2.0.0', acceptResources: true } });
  assert.deepEqual([answer.status, problemCode(answer)], [503, 'unavailable'], answer.text);
  assert.match(answer.text, /needs 2 GiB of memory/);
  assert.deepEqual(await assigned('tight'), small);
  await upgrade('tight', '2.0.0');
  await registerLocalMachine(platform, {});
});

test('what is granted counts for the memory of a machine, not what is asked for', async () => {
  await versions('counted', { ...small, mode: 'always' }, { ...big, memoryMiB: 900 });
  await upgrade('counted', '2.0.0');
  const { rows } = await platform.core.context.pool.query<{ resources: BackendResources }>(
    "SELECT resources FROM installations WHERE app_id = 'counted'",
  );
  assert.deepEqual(rows[0]?.resources, { ...small, mode: 'always' });
});

test('the catalog says of every version what it asks for', async () => {
  await versions('telling', small, big);
  const read = (query: string) => account.browser.take<CatalogDetail>(`/v1/catalog/telling${query}`);
  assert.deepEqual((await read('')).resources, big);
  const first = await read('?version=1.0.0');
  assert.deepEqual([first.version, first.resources], ['1.0.0', small]);
  const missing = await account.fetch('/v1/catalog/telling?version=9.0.0');
  assert.deepEqual([missing.status, problemCode(missing)], [404, 'not_found']);
});

async function volumeOf(appId: string): Promise<{ has_volume: boolean; disk: number }> {
  const { rows } = await platform.core.context.pool.query<{ has_volume: boolean; disk: number }>(
    "SELECT has_volume, (resources ->> 'diskMiB')::integer AS disk FROM installations WHERE app_id = $1",
    [appId],
  );
  assert.ok(rows[0]);
  return rows[0];
}
