// The data of an app: what core has of it goes at once, its volume as soon as the node answers; the app stays as it is.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { accountDisk, assignments, type Grant, workloadDetail } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { moments } from '../../../../tests/support/held-moments.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { until } from '../../../../tests/support/wait.ts';
import { bearer, install, nodeWorkload } from '../../test-support/apps.ts';
import { type NodeDouble, startNodeDouble } from '../../test-support/node-double.ts';
import { workflowsOf } from '../../test-support/workflows.ts';

const GRANTS: Grant[] = [
  { id: 'notifications.publish', resources: ['*'] },
  { id: 'search.index', resources: ['self'] },
];
const INDEX = '/v1/services/search/index';

const held = moments();
let platform: Constellation;
let replica: TestCore;
let node: NodeDouble;
let running: NodeDouble['answer'];
let stranger: TestAccount;
let account: TestAccount;
let app: InstalledTestApp;
let count = 0;

before(async () => {
  const first = await startConstellation({ at: held.at });
  replica = await first.replica({ at: held.at });
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  node = await startNodeDouble(platform);
  running = node.answer;
  stranger = await registerAccount(platform, 'stranger');
});
after(async () => {
  await platform.close();
  await node.close();
});
beforeEach(async () => {
  node.answer = running;
  count += 1;
  account = await registerAccount(platform, `keeper-${count}`);
  app = await installTestApp(platform, account, `diary-${count}`, GRANTS, {
    workload: { ...nodeWorkload, volume: true, resources: { diskMiB: 10 } },
  });
});

const deleteData = (by = account) => by.fetch(`/v1/apps/${app.appId}/data`, { method: 'DELETE' });
const asNode = (path: string, body?: unknown) => bearer(platform, platform.core.localNode.nodeCredential, path, body);
const status = async () => workloadDetail.parse((await account.fetch(`/v1/apps/${app.appId}/status`)).json);

async function isAssigned(): Promise<boolean> {
  const { items } = assignments.parse((await asNode('/v1/node/assignments')).json);
  return items.some(({ installationId }) => installationId === app.installationId);
}

async function volume() {
  const { volumes } = accountDisk.parse((await account.fetch('/v1/account/disk')).json);
  return volumes.find(({ appId }) => appId === app.appId);
}

const deletions = () =>
  node.calls.filter(({ method, path }) => method === 'DELETE' && path.endsWith(`${app.installationId}/volume`)).length;

/** As a node that still ends the backend, or is away. */
function refuseVolume(): void {
  node.answer = (call) =>
    call.path.endsWith('/volume')
      ? { status: 503, body: { code: 'workload_unavailable', detail: 'Its app is being removed.' } }
      : running(call);
}

function refused(answer: RawAnswer, code: number, problem: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [code, problem], answer.text);
}

async function live(): Promise<void> {
  const entries = [{ id: 'a', title: 'Private words', url: '?a' }];
  assert.equal((await app.call(INDEX, { method: 'PUT', body: { entries } })).status, 200);
  assert.equal((await workflowsOf(app).create()).status, 201);
  const published = await app.call('/v1/services/notifications', { body: { topic: 'news', title: 'Said before' } });
  assert.equal(published.status, 201, published.text);
}

const found = async () =>
  (await account.browser.take<{ groups?: unknown[]; items?: unknown[] }>('/v1/search?q=Private')) as object;

test('what it indexed and its workflow runs are gone at once, its volume is deleted on its node, the app stays', async () => {
  await live();
  assert.match(JSON.stringify(await found()), /Private words/);
  const permissions = await account.browser.take(`/v1/apps/${app.appId}/permissions`);
  refuseVolume();
  assert.deepEqual([(await deleteData()).status, (await deleteData()).status], [202, 202], 'twice is once');
  assert.doesNotMatch(JSON.stringify(await found()), /Private words/);
  const runs = await account.browser.take<{ items: unknown[] }>(`/v1/apps/${app.appId}/workflows`);
  assert.deepEqual(runs.items, []);
  node.answer = running;
  await until('the app is assigned again', isAssigned);
  assert.ok(deletions() > 0);
  assert.deepEqual(await account.browser.take(`/v1/apps/${app.appId}/permissions`), permissions);
  assert.deepEqual(await volume(), {
    appId: app.appId,
    name: app.appId,
    bytes: 10 * 1024 * 1024,
    installed: true,
    deleting: false,
  });
  const inbox = await account.browser.take<{ items: { title: string }[] }>('/v1/notifications');
  assert.deepEqual(
    inbox.items.map(({ title }) => title),
    ['Said before'],
    'what it said is the owner’s',
  );
});

test('until then its backend is on no node, cannot start, and what still runs of it writes nothing', async () => {
  await live();
  refuseVolume();
  await deleteData();
  assert.equal(await isAssigned(), false);
  assert.equal((await volume())?.deleting, true);
  const { state, reason } = await status();
  assert.deepEqual([state, reason], ['stopped', 'Its data is being deleted.']);
  refused(await account.fetch(`/v1/apps/${app.appId}/start`, { body: {} }), 503, 'workload_unavailable');
  const starts = await asNode(`/v1/node/installations/${app.installationId}/starts`, {});
  assert.equal(starts.status, 404, starts.text);
  for (const { signals, pool } of [platform.core.context, replica.context]) await signals.settled(pool);
  refused(await app.call(INDEX, { method: 'PUT', body: { entries: [] } }), 401, 'unauthenticated');
  await until('it was tried again', () => deletions() >= 2);
  assert.equal(await isAssigned(), false);
  node.answer = running;
  await until('it is done', isAssigned);
  assert.equal((await volume())?.deleting, false);
  assert.equal((await account.fetch(`/v1/apps/${app.appId}/start`, { body: {} })).status, 200);
});

test('the volume of a removed app goes the same way, and counts for nobody afterwards', async () => {
  await account.fetch(`/v1/apps/${app.appId}`, { method: 'DELETE' });
  assert.equal((await volume())?.installed, false);
  assert.equal((await deleteData()).status, 202);
  await until('it is gone', async () => (await volume()) === undefined);
  assert.ok(deletions() > 0);
});

test('an app that is installed again meanwhile starts with an empty volume', async () => {
  await account.fetch(`/v1/apps/${app.appId}`, { method: 'DELETE' });
  refuseVolume();
  await deleteData();
  await install(account, app.appId);
  assert.equal(await isAssigned(), false);
  node.answer = running;
  await until('it is assigned', isAssigned);
  assert.ok(deletions() > 0);
});

test('a core that dies between the volume and the end of it leaves the rest to another one', async () => {
  const { pool } = platform.core.context;
  const moment = held.hold('installations.data.deleted');
  await deleteData();
  await moment.reached;
  assert.equal(await isAssigned(), false);
  // Its lease runs out, and the others look because of another deletion.
  await pool.query('UPDATE data_deletions SET due_at = now() WHERE installation_id = $1', [app.installationId]);
  await account.fetch('/v1/apps/launcher/data', { method: 'DELETE' });
  await until('another one ended it', isAssigned);
  moment.release();
  assert.equal((await volume())?.deleting, false);
});

test('only its owner can, from the shell', async () => {
  refused(await deleteData(stranger), 404, 'not_found');
  const path = `/v1/apps/${app.appId}/data`;
  const noOrigin = await account.fetch(path, { method: 'DELETE', headers: { origin: undefined } });
  refused(noOrigin, 403, 'origin_not_allowed');
  const frontend = await app.openFrontend();
  assert.equal((await frontend.call(path, { method: 'DELETE' })).status, 403);
  assert.equal((await app.call(path, { method: 'DELETE' })).status, 403);
  assert.equal(await isAssigned(), true);
  assert.equal(deletions(), 0);
});
