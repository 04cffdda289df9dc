// What an app gets that is installed without a choice: what it requests, except critical permissions, which have to be named.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Grant, PermissionsView } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { requestAsBefore } from '../../../../tests/support/published-before.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { install, nodeWorkload, publish } from '../../test-support/apps.ts';
import { excessGrants } from '../grants/grant-coverage.ts';

let platform: Constellation;
let account: TestAccount;

before(async () => {
  platform = await startConstellation();
  account = await registerAccount(platform, 'keeper');
});
after(() => platform.close());

const view = (appId: string): Promise<PermissionsView> => account.browser.take(`/v1/apps/${appId}/permissions`);
const held = async (appId: string): Promise<Grant[]> => (await view(appId)).permissions;

async function publishing(appId: string, more: Readonly<Record<string, unknown>>): Promise<RawAnswer> {
  return account.fetch(`/v1/catalog/${appId}/versions/1.0.0`, {
    method: 'PUT',
    body: await buildTestPackage({
      manifest: testManifest(appId, more),
      files: { 'frontend/index.html': '<!doctype html><title>t</title>' },
    }),
    headers: { 'content-type': 'application/gzip' },
  });
}

const harmless: Grant[] = [
  { id: 'notifications.publish', resources: ['news'] },
  { id: 'network.public', resources: ['*'] },
  { id: 'content.collections.read', resources: ['*'] },
];
const critical: Grant[] = [
  { id: 'runtime.pause', resources: ['*'] },
  { id: 'system.inventory.read', resources: ['*'] },
  { id: 'wallet.payment.propose', resources: ['*'] },
  { id: 'wallet.policy.propose', resources: ['*'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'messaging.send', resources: ['*'] },
  { id: 'messaging.resolve', resources: ['*'] },
  { id: 'apps.create', resources: ['*'] },
];
const tools: Grant = { id: 'mcp.tools.call', resources: ['notes.add', '*', 'lists.*'] };
const asking = { permissions: [...critical, ...harmless, tools], workload: nodeWorkload };

test('without `permissions` an app gets what it requests except what is critical', async () => {
  await publish(account, 'asking', asking);
  await install(account, 'asking');
  assert.deepEqual(await held('asking'), [...harmless, { id: tools.id, resources: ['notes.add', 'lists.*'] }]);
});

test('critical permissions are granted where they are named, at the installation and later', async () => {
  await publish(account, 'naming', asking);
  const all = [...critical, tools];
  await install(account, 'naming', all);
  assert.deepEqual(await held('naming'), all);
  await publish(account, 'later', asking);
  await install(account, 'later');
  const body = { permissions: [...harmless, ...critical, { id: tools.id, resources: ['*'] }] };
  await account.browser.take('/v1/apps/later/permissions', { method: 'PUT', body });
  assert.deepEqual(await held('later'), body.permissions);
});

test('an empty list grants nothing, and naming a part grants that part alone', async () => {
  await publish(account, 'nothing', asking);
  await install(account, 'nothing', []);
  assert.deepEqual(await held('nothing'), []);
  await publish(account, 'part', asking);
  await install(account, 'part', [{ id: 'messaging.read', resources: ['*'] }]);
  assert.deepEqual(await held('part'), [{ id: 'messaging.read', resources: ['*'] }]);
});

test('requests of one permission are one request, and one grant', async () => {
  const [first, second]: Grant[] = [
    { id: 'notifications.publish', resources: ['news'] },
    { id: 'notifications.publish', resources: ['team.*', 'news'] },
  ];
  await publish(account, 'twice', { permissions: [first, harmless[2], second] });
  await install(account, 'twice');
  const merged = { id: 'notifications.publish', resources: ['news', 'team.*'] };
  const { permissions, requested } = await view('twice');
  assert.deepEqual(
    [permissions, requested],
    [
      [merged, harmless[2]],
      [merged, harmless[2]],
    ],
  );
});

test('an app that requests nothing but critical permissions is installed with none', async () => {
  await publish(account, 'only-critical', { permissions: critical });
  await install(account, 'only-critical');
  assert.deepEqual(await held('only-critical'), []);
});

test('an update brings no critical permission, and keeps one that was named', async () => {
  await publish(account, 'growing', { permissions: [critical[0]] });
  await publish(account, 'growing', { ...asking, version: '2.0.0' });
  await account.browser.take('/v1/apps', { body: { appId: 'growing', version: '1.0.0', permissions: [critical[0]] } });
  await account.browser.take('/v1/apps/growing/upgrade', { body: { version: '2.0.0' } });
  assert.deepEqual(await held('growing'), [critical[0]]);
});

test('the platform’s own apps come whole with an account, and are reinstalled like any other', async () => {
  const { permissions: own } = await view('schedules');
  assert.deepEqual(own, [{ id: 'schedules.manage', resources: ['*'] }]);
  await account.browser.fetch('/v1/apps/schedules', { method: 'DELETE' });
  await install(account, 'schedules');
  assert.deepEqual(await held('schedules'), own);
});

test('publishing refuses a resource that a permission does not know, and a permission of a system role', async () => {
  const refused: [Grant, string][] = [
    [{ id: 'messaging.read', resources: ['anna'] }, 'permissions[0].resources[0]'],
    [{ id: 'search.index', resources: ['*'] }, 'permissions[0].resources[0]'],
    [{ id: 'wallet.payment.propose', resources: ['*', 'self'] }, 'permissions[0].resources[1]'],
    [{ id: 'files.user.manage', resources: ['*'] }, 'permissions[0].id'],
    [{ id: 'schedules.manage', resources: ['*'] }, 'permissions[0].id'],
  ];
  for (const [grant, at] of refused) {
    const answer = await publishing('refused', { permissions: [grant] });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], grant.id);
    const { errors } = answer.json as { errors: { path: string }[] };
    assert.deepEqual(
      errors.map(({ path }) => path),
      [at],
      grant.id,
    );
  }
});

test('the role does not help: nobody but the platform may claim it', async () => {
  const roles = ['files.user-manager'];
  const answer = await publishing('refused', {
    systemRoles: roles,
    permissions: [{ id: 'files.user.manage', resources: ['*'] }],
  });
  assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request']);
});

test('what was published before these rules is installed, updated and granted as ever', async () => {
  const before: Grant[] = [
    { id: 'search.index', resources: ['*'] },
    { id: 'messaging.read', resources: ['anna', 'b*'] },
    { id: 'files.user.manage', resources: ['*'] },
    { id: 'notifications.publish', resources: ['news'] },
  ];
  await publish(account, 'elder', { workload: nodeWorkload });
  await requestAsBefore(platform, 'elder', before);
  await install(account, 'elder');
  assert.deepEqual(await held('elder'), [before[0], before[3]]);
  await account.browser.take('/v1/apps/elder/permissions', { method: 'PUT', body: { permissions: before } });
  assert.deepEqual(await held('elder'), before);
  await publish(account, 'elder', {
    version: '2.0.0',
    workload: nodeWorkload,
    permissions: [{ id: 'search.index', resources: ['self'] }, before[3]],
  });
  await account.browser.take('/v1/apps/elder/upgrade', { body: { version: '2.0.0' } });
  const { permissions: now, setAside } = await view('elder');
  assert.deepEqual(now, [{ id: 'search.index', resources: ['self'] }, before[3]]);
  assert.deepEqual(setAside, before.slice(0, 3));
  await account.browser.take('/v1/apps/elder/upgrade', { body: { version: '1.0.0' } });
  assert.deepEqual(excessGrants(await held('elder'), before), [], 'nothing was taken away');
});
