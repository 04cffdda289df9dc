// Promises of going back: the version before an update stays, for its owner and on the disk; what it may do never grows.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AccountDisk, CatalogDetail, Grant, InstalledApp, PermissionsView } from '@platform/contract';
import { registerAccount, type TestAccount, TestBrowser } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { install, installationRow, publish } from '../../test-support/apps.ts';

let platform: Constellation;
let publisher: TestAccount;
let owner: TestAccount;

before(async () => {
  platform = await startConstellation();
  publisher = await registerAccount(platform, 'publisher');
  owner = await registerAccount(platform, 'returning');
});
after(() => platform.close());

/** Versions 1.0.0, 2.0.0 and so on; installs the first. */
async function versions(appId: string, ...manifests: readonly object[]): Promise<void> {
  for (const [index, manifest] of manifests.entries())
    await publish(publisher, appId, { version: `${index + 1}.0.0`, ...manifest });
  await owner.browser.take('/v1/apps', { body: { appId, version: '1.0.0' } });
}

const tryUpgrade = (appId: string, version: string, account = owner) =>
  account.fetch(`/v1/apps/${appId}/upgrade`, { body: { version } });

async function upgrade(appId: string, version: string): Promise<InstalledApp> {
  const answer = await tryUpgrade(appId, version);
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { app: InstalledApp }).app;
}

async function shown(appId: string): Promise<Pick<InstalledApp, 'version' | 'upgrade' | 'former'>> {
  const { items } = await owner.browser.take<{ items: InstalledApp[] }>('/v1/apps?limit=200');
  const app = items.find((item) => item.appId === appId);
  assert.ok(app);
  const { version, upgrade: newer, former } = app;
  return { version, upgrade: newer, former };
}

const withdraw = (appId: string, version: string) =>
  publisher.fetch(`/v1/catalog/${appId}/versions/${version}`, { method: 'DELETE' });

/** Of each version, until when its publisher cannot delete it. */
async function kept(appId: string): Promise<string[]> {
  const { packages } = await publisher.browser.take<AccountDisk>('/v1/account/disk');
  const own = packages.filter((each) => each.appId === appId);
  return own.map(({ version, keptUntil }) => `${version} ${keptUntil?.slice(0, 10) ?? null}`).sort();
}

/** As if everybody had updated long ago. */
async function letTimePass(appId: string): Promise<void> {
  await platform.core.context.pool.query(
    "UPDATE installations SET former_kept_until = former_kept_until - interval '31 days' WHERE app_id = $1",
    [appId],
  );
}

function assertRefused(answer: RawAnswer, status: number, code: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
}

test('an update names the version to go back to; going back names none, and offers the update again', async () => {
  await versions('steps', {}, {}, {});
  assert.deepEqual(await shown('steps'), { version: '1.0.0', upgrade: '3.0.0', former: null });
  assert.equal((await upgrade('steps', '2.0.0')).former, '1.0.0');
  assert.equal((await upgrade('steps', '3.0.0')).former, '2.0.0');
  await upgrade('steps', '3.0.0');
  assert.deepEqual(await shown('steps'), { version: '3.0.0', upgrade: null, former: '2.0.0' });
  await upgrade('steps', '2.0.0');
  assert.deepEqual(await shown('steps'), { version: '2.0.0', upgrade: '3.0.0', former: null });
});

test('a removed app forgets it, also when it is installed again', async () => {
  await versions('forgetful', {}, {});
  await upgrade('forgetful', '2.0.0');
  await owner.fetch('/v1/apps/forgetful', { method: 'DELETE' });
  await install(owner, 'forgetful');
  assert.deepEqual(await shown('forgetful'), { version: '2.0.0', upgrade: null, former: null });
});

test('what the newer version added is without effect, and what the former one was granted works again', async () => {
  const permissions = (...topics: string[]): { permissions: Grant[] } => ({
    permissions: [{ id: 'notifications.publish', resources: topics }],
  });
  await versions('narrowing', permissions('news', 'alerts'), permissions('news', 'offers'));
  await upgrade('narrowing', '2.0.0');
  await owner.browser.take('/v1/apps/narrowing/permissions', { method: 'PUT', body: permissions('news', 'offers') });
  await upgrade('narrowing', '1.0.0');
  const view = await owner.browser.take<PermissionsView>('/v1/apps/narrowing/permissions');
  assert.deepEqual(view.permissions, permissions('news', 'alerts').permissions);
  assert.deepEqual(view.setAside, permissions('offers').permissions);
});

test('the publisher cannot delete it while somebody may go back, and is told until when', async () => {
  await versions('held', {}, {});
  await upgrade('held', '2.0.0');
  const refused = await withdraw('held', '1.0.0');
  assertRefused(refused, 409, 'version_in_use');
  const until = /can go back to it until (\d{4}-\d\d-\d\d)/.exec(refused.text)?.[1];
  assert.ok(until);
  assert.deepEqual(await kept('held'), [`1.0.0 ${until}`, '2.0.0 null'], 'and Storage says so');
  await letTimePass('held');
  assert.deepEqual(await kept('held'), ['1.0.0 null', '2.0.0 null']);
  assert.equal((await shown('held')).former, '1.0.0', 'going back is possible as long as it is there');
  assert.equal((await withdraw('held', '1.0.0')).status, 204);
  assert.deepEqual(await shown('held'), { version: '2.0.0', upgrade: null, former: null });
  assertRefused(await tryUpgrade('held', '1.0.0'), 404, 'not_found');
});

test('it is not kept for a removed app, nor for the publisher, who deletes it', async () => {
  await versions('let-go', {}, {});
  await install(publisher, 'let-go');
  await tryUpgrade('let-go', '1.0.0', publisher);
  await tryUpgrade('let-go', '2.0.0', publisher);
  await upgrade('let-go', '2.0.0');
  assert.notDeepEqual(await kept('let-go'), ['1.0.0 null', '2.0.0 null']);
  await owner.fetch('/v1/apps/let-go', { method: 'DELETE' });
  assert.deepEqual(await kept('let-go'), ['1.0.0 null', '2.0.0 null']);
  assert.equal((await withdraw('let-go', '1.0.0')).status, 204);
});

test('an app that became private stays visible to those who have it, in the versions they have, and can be gone back', async () => {
  await versions('closing', {}, { changes: 'Tags' });
  await upgrade('closing', '2.0.0');
  await publish(publisher, 'closing', { version: '3.0.0', visibility: 'private' });
  const detail = await owner.browser.take<CatalogDetail>('/v1/catalog/closing');
  assert.deepEqual([detail.version, detail.changes, detail.visibility], ['2.0.0', 'Tags', 'private']);
  assert.deepEqual(
    detail.versions.map(({ version }) => version),
    ['2.0.0', '1.0.0'],
  );
  assertRefused(await owner.fetch('/v1/catalog/closing?version=3.0.0'), 404, 'not_found');
  assertRefused(await tryUpgrade('closing', '3.0.0'), 404, 'not_found');
  await upgrade('closing', '1.0.0');
  assertRefused(await tryUpgrade('closing', '2.0.0'), 404, 'not_found');
  assert.deepEqual(await shown('closing'), { version: '1.0.0', upgrade: null, former: null });
});

test('an app of the platform is at its version, and nothing to go back to', async () => {
  const { items } = await owner.browser.take<{ items: InstalledApp[] }>('/v1/apps?limit=200');
  const system = items.filter((item) => item.system);
  assert.ok(system.length > 0);
  assert.ok(system.every(({ former }) => former === null));
});

test('of an update and a removal at the same time, at two replicas, either order is whole', async () => {
  const other = await platform.replica();
  const elsewhere = new TestBrowser({ port: other.port, origin: other.context.config.origin });
  elsewhere.cookie = owner.cookie;
  await publish(publisher, 'raced');
  await publish(publisher, 'raced', { version: '2.0.0' });
  for (let round = 0; round < 8; round += 1) {
    await owner.browser.take('/v1/apps', { body: { appId: 'raced', version: '1.0.0' } });
    const [updated, removed] = await Promise.all([
      elsewhere.fetch('/v1/apps/raced/upgrade', { body: { version: '2.0.0' } }),
      owner.fetch('/v1/apps/raced', { method: 'DELETE' }),
    ]);
    assert.equal(removed.status, 204, removed.text);
    if (updated.status !== 200) assertRefused(updated, 404, 'not_found');
    const row = await installationRow(platform, owner, 'raced');
    assert.ok(row.removed_at !== null);
    assert.deepEqual(row.grants, []);
  }
});

test('of going back and a deletion of that version at the same time, one wins and the other says so', async () => {
  for (let round = 0; round < 8; round += 1) {
    const appId = `crossing-${round}`;
    await versions(appId, {}, {});
    await upgrade(appId, '2.0.0');
    await letTimePass(appId);
    const [back, deleted] = await Promise.all([tryUpgrade(appId, '1.0.0'), withdraw(appId, '1.0.0')]);
    if (back.status === 200) {
      assertRefused(deleted, 409, 'version_in_use');
      assert.equal((await shown(appId)).version, '1.0.0');
    } else {
      assertRefused(back, 404, 'not_found');
      assert.equal(deleted.status, 204, deleted.text);
      assert.deepEqual(await shown(appId), { version: '2.0.0', upgrade: null, former: null });
    }
  }
});
