// Who finds an app: everybody, those who know its id, or nobody but its publisher.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CatalogEntry, InstalledApp } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { install, publish } from '../../test-support/apps.ts';

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

const tryInstall = (account: TestAccount, appId: string) => account.fetch('/v1/apps', { body: { appId } });

test('a public app is listed for everybody', async () => {
  await publish(publisher, 'open-app');
  assert.ok((await listed(other)).includes('open-app'));
});

test('an unlisted app is found by its id, and listed for its publisher alone', async () => {
  await publish(publisher, 'quiet-app', { visibility: 'unlisted' });
  assert.ok(!(await listed(other)).includes('quiet-app'));
  assert.ok((await listed(publisher)).includes('quiet-app'));
  assert.equal((await other.fetch('/v1/catalog/quiet-app')).status, 200);
  await install(other, 'quiet-app');
});

test('a private app does not exist for anybody but its publisher', async () => {
  await publish(publisher, 'own-app', { visibility: 'private' });
  assert.ok(!(await listed(other)).includes('own-app'));
  for (const path of ['/v1/catalog/own-app', '/v1/catalog/own-app/icon'])
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
