// How many apps an account may publish, and how many versions of one: bounded also for those who delete and go on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CatalogDetail, limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { buildTestPackage, testManifest } from '../../../../../tests/support/packages.ts';
import { problemCode, type RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { publish } from '../../../test-support/apps.ts';

let platform: Constellation;

before(async () => {
  platform = await startConstellation();
});
after(() => platform.close());

async function tryToPublish(account: TestAccount, appId: string, version = '1.0.0'): Promise<RawAnswer> {
  return account.fetch(`/v1/catalog/${appId}/versions/${version}`, {
    method: 'PUT',
    body: await buildTestPackage({ manifest: testManifest(appId, { version }) }),
    headers: { 'content-type': 'application/gzip' },
  });
}

/** Rows as if the publisher had published and deleted so many versions of the app. */
function withVersions(appId: string, { deleted, kept }: { readonly deleted: number; readonly kept: number }) {
  const { pool } = platform.core.context;
  return Promise.all([
    pool.query(`INSERT INTO withdrawn_versions SELECT $1, '0.1.' || n, 'x' FROM generate_series(1, $2::integer) AS n`, [
      appId,
      deleted,
    ]),
    pool.query(
      `INSERT INTO app_versions (app_id, version, package_hash, manifest, newest, published_at)
       SELECT app_id, '0.2.' || n, package_hash, manifest, false, published_at - interval '1 hour' + n * interval '1 ms'
         FROM app_versions, generate_series(1, $2::integer) AS n WHERE app_id = $1 AND newest`,
      [appId, kept],
    ),
  ]);
}

test('an account has a bounded number of apps; those whose versions were all deleted count', async () => {
  const publisher = await registerAccount(platform, 'prolific');
  await publish(publisher, 'first-of-many');
  await platform.core.context.pool.query(
    `INSERT INTO apps (app_id, owner_key, created_at)
     SELECT 'filler-' || n, owner_key, created_at
       FROM apps, generate_series(1, $1::integer) AS n WHERE app_id = 'first-of-many'`,
    [limits.appsPerAccount.value - 2],
  );
  // Of many at once no more pass than fit: one.
  const several = await Promise.all(['one', 'two'].map((name) => tryToPublish(publisher, `last-${name}`)));
  assert.deepEqual(several.map(({ status }) => status).sort(), [201, 403]);
  assert.equal(problemCode(await tryToPublish(publisher, 'one-too-many')), 'not_authorized');
  assert.equal((await tryToPublish(publisher, 'first-of-many', '1.0.1')).status, 201, 'of those it has');
  await publish(await registerAccount(platform, 'another'), 'one-too-many');
});

test('an app has a bounded number of versions; deleted ones count', async () => {
  const publisher = await registerAccount(platform, 'restless');
  await publish(publisher, 'often');
  await withVersions('often', { deleted: 500, kept: limits.versionsPerApp.value - 502 });
  assert.equal((await tryToPublish(publisher, 'often', '1.0.1')).status, 201);
  assert.equal(problemCode(await tryToPublish(publisher, 'often', '1.0.2')), 'not_authorized');
  const deletion = await publisher.fetch('/v1/catalog/often/versions/1.0.1', { method: 'DELETE' });
  assert.equal(deletion.status, 204);
  assert.equal(problemCode(await tryToPublish(publisher, 'often', '1.0.2')), 'not_authorized');
});

test('its description names the versions that were published last, however many there are', async () => {
  const publisher = await registerAccount(platform, 'steady');
  await publish(publisher, 'long-story', { version: '0.1.0' });
  await withVersions('long-story', { deleted: 0, kept: 300 });
  const { versions } = await publisher.browser.take<CatalogDetail>('/v1/catalog/long-story');
  assert.equal(versions.length, limits.pageMaximum.value);
  assert.deepEqual(
    versions.slice(0, 2).map(({ version }) => version),
    ['0.2.300', '0.2.299'],
  );
  assert.equal(versions.at(-1)?.version, '0.1.0', 'the highest come first');
});
