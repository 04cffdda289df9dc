// Who finds an app: everybody, those who know its id, or nobody but its publisher.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CatalogDetail, CatalogEntry, InstalledApp } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { png } from '../../../../tests/support/pictures.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { install, openFrontend, publish } from '../../test-support/apps.ts';

let platform: Constellation;
let publisher: TestAccount;
let other: TestAccount;

before(async () => {
  platform = await startConstellation();
  publisher = await registerAccount(platform, 'publisher');
  other = await registerAccount(platform, 'somebody');
});
after(() => platform.close());

async function listed(account: TestAccount): Promise<string[]> {
  const { items } = (await account.fetch('/v1/catalog?limit=200')).json as { items: CatalogEntry[] };
  return items.map(({ appId }) => appId);
}

const privately = { visibility: 'private', icon: 'icon.svg', screenshots: ['shot.png'] };
const pictures = { 'frontend/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>', 'frontend/shot.png': png(64, 40) };

const tryInstall = (account: TestAccount, appId: string) => account.fetch('/v1/apps', { body: { appId } });

test('a public app is listed for everybody', async () => {
  await publish(publisher, 'open-app');
  assert.ok((await listed(other)).includes('open-app'));
});

async function detailOf(account: TestAccount, appId: string): Promise<CatalogDetail> {
  return account.browser.take<CatalogDetail>(`/v1/catalog/${appId}`);
}

test('everybody sees who an app is for, and its publisher that it is theirs', async () => {
  await publish(publisher, 'labelled-app', { visibility: 'unlisted' });
  const seen = await Promise.all([publisher, other].map((account) => detailOf(account, 'labelled-app')));
  assert.deepEqual(
    seen.map(({ visibility, own }) => [visibility, own]),
    [
      ['unlisted', true],
      ['unlisted', false],
    ],
  );
});

test('an unlisted app is found by its id, and listed for its publisher alone', async () => {
  await publish(publisher, 'quiet-app', { visibility: 'unlisted' });
  assert.ok(!(await listed(other)).includes('quiet-app'));
  assert.ok((await listed(publisher)).includes('quiet-app'));
  assert.equal((await other.fetch('/v1/catalog/quiet-app')).status, 200);
  await install(other, 'quiet-app');
});

test('a private app does not exist for anybody but its publisher', async () => {
  await publish(publisher, 'own-app', privately, pictures);
  assert.ok(!(await listed(other)).includes('own-app'));
  for (const path of [
    '/v1/catalog/own-app',
    '/v1/catalog/own-app?version=1.0.0',
    '/v1/catalog/own-app/icon',
    '/v1/catalog/own-app/versions/1.0.0/screenshots/1',
  ])
    assert.equal(problemCode(await other.fetch(path)), 'not_found', path);
  assert.equal(problemCode(await tryInstall(other, 'own-app')), 'not_found');
  await install(publisher, 'own-app');
});

test('the newest version speaks for the app: what others have stays, and no version is offered to them', async () => {
  await publish(publisher, 'closing-app');
  await install(other, 'closing-app');
  await publish(publisher, 'closing-app', { version: '2.0.0', visibility: 'private' });
  const { items } = (await other.fetch('/v1/apps')).json as { items: InstalledApp[] };
  assert.equal(items.find(({ appId }) => appId === 'closing-app')?.upgrade, null);
  const upgraded = await other.fetch('/v1/apps/closing-app/upgrade', { body: { version: '2.0.0' } });
  assert.equal(problemCode(upgraded), 'not_found');
  const third = await registerAccount(platform, 'latecomer');
  const former = await third.fetch('/v1/apps', { body: { appId: 'closing-app', version: '1.0.0' } });
  assert.equal(problemCode(former), 'not_found');
});

test('a version that is private itself is its publisher’s alone, whatever the newest one says', async () => {
  await publish(publisher, 'opening-app', privately, pictures);
  await publish(publisher, 'opening-app', { version: '2.0.0' });
  const versionsFor = async (account: TestAccount) =>
    (await detailOf(account, 'opening-app')).versions.map(({ version }) => version);
  assert.deepEqual(await versionsFor(publisher), ['2.0.0', '1.0.0']);
  assert.deepEqual(await versionsFor(other), ['2.0.0']);
  for (const path of ['?version=1.0.0', '/versions/1.0.0/screenshots/1'])
    assert.equal(problemCode(await other.fetch(`/v1/catalog/opening-app${path}`)), 'not_found', path);
  const installed = await other.fetch('/v1/apps', { body: { appId: 'opening-app', version: '1.0.0' } });
  assert.equal(problemCode(installed), 'not_found');
  await install(other, 'opening-app');
  const back = await other.fetch('/v1/apps/opening-app/upgrade', { body: { version: '1.0.0' } });
  assert.equal(problemCode(back), 'not_found');
});

test('who has an app that became private still sees its pictures, and whoever has it not sees none', async () => {
  await publish(publisher, 'hidden-later', { ...privately, visibility: 'public' }, pictures);
  await install(other, 'hidden-later');
  await publish(publisher, 'hidden-later', { ...privately, version: '2.0.0' }, pictures);
  const stranger = await registerAccount(platform, 'stranger');
  for (const path of ['/icon', '/versions/1.0.0/screenshots/1']) {
    assert.equal((await other.fetch(`/v1/catalog/hidden-later${path}`)).status, 200, path);
    assert.equal((await stranger.fetch(`/v1/catalog/hidden-later${path}`)).status, 404, path);
  }
  const newer = await other.fetch('/v1/catalog/hidden-later/versions/2.0.0/screenshots/1');
  assert.equal(problemCode(newer), 'not_found');
  assert.ok(!(await listed(other)).includes('hidden-later'));
});

test('apps and search show a private app to the account that installed it, and to no other', async () => {
  await publish(publisher, 'secret-plan', { ...privately, name: 'Zeppelin' }, pictures);
  await publish(publisher, 'looking', { permissions: [{ id: 'apps.catalog.read', resources: ['*'] }] });
  await install(publisher, 'secret-plan');
  for (const [account, seen] of [
    [publisher, true],
    [other, false],
  ] as const) {
    await install(account, 'looking');
    const frontend = await openFrontend(platform, account, 'looking');
    const everywhere = [
      await frontend.fetch('/v1/services/apps?limit=200'),
      await account.fetch('/v1/apps?limit=200'),
      await account.fetch('/v1/search?q=zeppelin'),
      await account.fetch('/v1/catalog?limit=200'),
    ];
    for (const answer of everywhere) {
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text.includes('secret-plan'), seen, answer.text);
    }
  }
});
