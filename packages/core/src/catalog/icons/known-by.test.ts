// Promises of names and pictures: people see those of the version that they have installed until they update to another; the
// Store shows those of the newest, and a review says what changes.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CatalogDetail, CatalogEntry, InstalledApp, SearchResult } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { png } from '../../../../../tests/support/pictures.ts';
import { publishTestApp } from '../../../../../tests/support/publish.ts';
import { svg } from '../../../test-support/hostile-pictures.ts';

let world: Constellation;
let publisher: TestAccount;
let owner: TestAccount;
let stranger: TestAccount;
before(async () => {
  world = await startConstellation();
  publisher = await registerAccount(world, 'publisher');
  owner = await registerAccount(world, 'owner-of-it');
  stranger = await registerAccount(world, 'stranger');
});
after(() => world.close());

const [SMALL, LARGE] = [png(16, 16), png(32, 32)];
const BLUE = svg('<rect width="99" height="99" fill="#00f"/>');
const files = (icon: Buffer | string) => ({ 'frontend/index.html': 'x', 'frontend/a.svg': icon, 'frontend/b': icon });

async function pictureOf(account: TestAccount, path: string | null | undefined): Promise<number> {
  const answer = await account.fetch(path ?? '');
  assert.equal(answer.status, 200, answer.text);
  return Number(answer.headers['content-length']);
}

test('an update that nobody reviewed changes neither name nor picture, wherever people see them', async () => {
  await publishTestApp(publisher, 'diary', { name: 'Diary', icon: 'b' }, files(SMALL));
  await owner.browser.take('/v1/apps', { body: { appId: 'diary' } });
  await publishTestApp(publisher, 'diary', { name: 'Wallet 2', version: '2.0.0', icon: 'b' }, files(LARGE));

  const { items } = await owner.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  const installed = items.find(({ appId }) => appId === 'diary');
  assert.deepEqual([installed?.name, installed?.upgrade], ['Diary', '2.0.0']);
  const { apps } = await owner.browser.take<SearchResult>('/v1/search?q=diary');
  assert.deepEqual(apps, [{ appId: 'diary', name: 'Diary', icon: installed?.icon }]);
  // The last is what a notification shows that came by push.
  for (const path of [installed?.icon, '/v1/catalog/diary/icon'])
    assert.equal(await pictureOf(owner, path), SMALL.length, path ?? '');

  const catalog = await owner.browser.take<{ items: CatalogEntry[] }>('/v1/catalog');
  const offered = catalog.items.find(({ appId }) => appId === 'diary');
  assert.equal(offered?.name, 'Wallet 2');
  assert.equal(await pictureOf(owner, offered?.icon), LARGE.length);
  assert.equal(await pictureOf(stranger, '/v1/catalog/diary/icon'), LARGE.length);

  await owner.browser.take('/v1/apps/diary/upgrade', { body: { version: '2.0.0' } });
  const after = await owner.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  const updated = after.items.find(({ appId }) => appId === 'diary');
  assert.equal(updated?.name, 'Wallet 2');
  assert.notEqual(updated?.icon, installed?.icon, 'browsers keep what they read of an address');
  for (const path of [updated?.icon, '/v1/catalog/diary/icon'])
    assert.equal(await pictureOf(owner, path), LARGE.length, path ?? '');
});

test('the icon of a version is seen by those who see the version', async () => {
  await publishTestApp(publisher, 'closed', { icon: 'b' }, files(SMALL));
  await owner.browser.take('/v1/apps', { body: { appId: 'closed' } });
  await publishTestApp(publisher, 'closed', { icon: 'b', version: '2.0.0', visibility: 'private' }, files(LARGE));
  const [first, second] = ['1.0.0', '2.0.0'].map((version) => `/v1/catalog/closed/versions/${version}/icon`);
  assert.equal(await pictureOf(owner, first), SMALL.length);
  assert.equal(await pictureOf(publisher, second), LARGE.length);
  for (const [account, path] of [
    [owner, second],
    [stranger, first],
    [stranger, second],
  ] as const)
    assert.equal((await account.fetch(path ?? '')).status, 404, path);
});

const changes = {
  'nothing, though the package is another': [{ icon: 'b' }, SMALL, true],
  'nothing, though the file is called otherwise': [{ icon: 'a.svg' }, SMALL, true],
  'the name': [{ name: 'Other', icon: 'b' }, SMALL, true],
  'the picture': [{ icon: 'b' }, LARGE, false],
  'the kind of picture': [{ icon: 'b' }, BLUE, false],
  'that there is a picture': [{}, SMALL, false],
} as const;
for (const [index, [what, [manifest, icon, sameIcon]]] of Object.entries(changes).entries())
  test(`the detail of a version says how the installed one looks: it changes ${what}`, async () => {
    const appId = `changing-${index}`;
    await publishTestApp(publisher, appId, { name: 'Before', icon: 'b' }, files(SMALL));
    const none = await owner.browser.take<CatalogDetail>(`/v1/catalog/${appId}`);
    assert.equal(none.installed, null);
    await owner.browser.take('/v1/apps', { body: { appId } });
    await publishTestApp(publisher, appId, { name: 'Before', ...manifest, version: '2.0.0' }, files(icon));
    const { installed } = await owner.browser.take<CatalogDetail>(`/v1/catalog/${appId}`);
    const path = `/v1/catalog/${appId}/versions/1.0.0/icon`;
    assert.deepEqual(installed, { version: '1.0.0', name: 'Before', icon: path, sameIcon });
    const present = await owner.browser.take<CatalogDetail>(`/v1/catalog/${appId}?version=1.0.0`);
    assert.equal(present.installed?.sameIcon, true);
  });

test('an app that had no picture gets one', async () => {
  await publishTestApp(publisher, 'bare', {});
  await owner.browser.take('/v1/apps', { body: { appId: 'bare' } });
  await publishTestApp(publisher, 'bare', { version: '2.0.0', icon: 'b' }, files(SMALL));
  const { installed } = await owner.browser.take<CatalogDetail>('/v1/catalog/bare');
  assert.deepEqual(installed, { version: '1.0.0', name: 'bare', icon: null, sameIcon: false });
});
