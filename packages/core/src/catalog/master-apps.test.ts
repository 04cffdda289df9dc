// System apps for the master account only: for other accounts they do not exist.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CatalogEntry, type InstalledApp, RefusalError } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { installApp } from '../installations/install-app.ts';

let platform: Constellation;
let master: TestAccount;
let tenant: TestAccount;

before(async () => {
  platform = await startConstellation({ config: { masterAccount: 'landlord' } });
  master = await registerAccount(platform, 'landlord');
  tenant = await registerAccount(platform, 'tenant');
});
after(() => platform.close());

async function ids(account: TestAccount, path: string): Promise<string[]> {
  const { items } = await account.browser.take<{ items: (CatalogEntry | InstalledApp)[] }>(path);
  return items.map(({ appId }) => appId);
}

test('the master account has it from its beginning, may remove it and finds it in the catalog', async () => {
  assert.ok((await ids(master, '/v1/apps')).includes('fleet'));
  assert.ok((await ids(master, '/v1/catalog')).includes('fleet'));
  assert.equal((await master.fetch('/v1/catalog/fleet')).status, 200);
  assert.equal((await master.fetch('/v1/apps/fleet', { method: 'DELETE' })).status, 204);
  await platform.replica();
  assert.ok(!(await ids(master, '/v1/apps')).includes('fleet'), 'what was removed stays removed');
  assert.equal((await master.fetch('/v1/apps', { body: { appId: 'fleet' } })).status, 201);
});

test('other accounts neither have it, nor see it, nor can install it', async () => {
  assert.ok(!(await ids(tenant, '/v1/apps')).includes('fleet'));
  assert.ok(!(await ids(tenant, '/v1/catalog')).includes('fleet'));
  for (const answer of [
    await tenant.fetch('/v1/catalog/fleet'),
    await tenant.fetch('/v1/catalog/fleet/icon'),
    await tenant.fetch('/v1/apps', { body: { appId: 'fleet' } }),
  ])
    assert.equal(problemCode(answer), 'not_found');
  assert.ok((await ids(tenant, '/v1/catalog')).includes('store'), 'the others are there');
});

test('the pages of the catalog leave it out without a gap', async () => {
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: { items: CatalogEntry[]; nextCursor: string | null } = await tenant.browser.take(
      `/v1/catalog?limit=1${query}`,
    );
    seen.push(...page.items.map(({ appId }) => appId));
    cursor = page.nextCursor;
  }
  assert.deepEqual(seen, await ids(tenant, '/v1/catalog'));
});

test('an account that was there before it was named gets it at the next start', async () => {
  const late = await registerAccount(platform, 'successor');
  const config = { ...platform.core.context.config, masterAccount: 'successor', listenPort: 0 };
  const { context } = await platform.replica({ config });
  assert.ok((await ids(late, '/v1/apps')).includes('fleet'));
  const owner = { key: 'acct-of-nobody', name: 'landlord' };
  await assert.rejects(
    installApp(context, owner, { appId: 'fleet' }),
    (error) => error instanceof RefusalError && error.refusal.code === 'not_found',
    'the former one no longer',
  );
});
