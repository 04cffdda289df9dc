// The ids of the platform's apps are its own, and a platform that lacks one of them still registers accounts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstalledApp } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../tests/support/packages.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { publish } from '../../test-support/apps.ts';
import { defaultAppIds } from './platform-app-ids.ts';

let platform: Constellation;
let account: TestAccount;

/** As on a platform that does not come with this app yet. */
async function withoutApp(appId: string): Promise<void> {
  const { pool } = platform.core.context;
  await pool.query('DELETE FROM app_versions WHERE app_id = $1', [appId]);
  await pool.query('DELETE FROM apps WHERE app_id = $1', [appId]);
}

before(async () => {
  platform = await startConstellation();
  await withoutApp('agent');
  await withoutApp('contacts');
  account = await registerAccount(platform, 'early');
});
after(() => platform.close());

async function appsOf({ browser }: TestAccount): Promise<string[]> {
  return (await browser.take<{ items: InstalledApp[] }>('/v1/apps')).items.map(({ appId }) => appId);
}

test('no account can claim an id of the platform, also while its app is not published', async () => {
  const answer = await account.fetch('/v1/catalog/contacts/versions/1.0.0', {
    method: 'PUT',
    body: await buildTestPackage({ manifest: testManifest('contacts') }),
    headers: { 'content-type': 'application/gzip' },
  });
  assert.equal(problemCode(answer), 'not_authorized', answer.text);
  assert.match(answer.text, /keeps the app id contacts/);
});

test('an account registers without the apps that are missing or of another publisher, and the log says so', async () => {
  await platform.core.context.pool.query(
    "INSERT INTO apps (app_id, owner_key, created_at) SELECT 'agent', key, now() FROM accounts WHERE name = 'early'",
  );
  await publish(account, 'agent');
  const apps = await appsOf(await registerAccount(platform, 'late'));
  assert.deepEqual(apps.sort(), defaultAppIds.filter((appId) => appId !== 'agent' && appId !== 'contacts').sort());
  const faults = platform.log.filter(({ level, fields }) => level === 'error' && 'missing' in fields);
  assert.deepEqual(faults.at(-1)?.fields, { missing: ['contacts', 'agent'], account: 'late' });
});
