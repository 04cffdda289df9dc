// Accounts get the default apps that the platform did not have when they were registered.
import { strict as assert } from 'node:assert';
import { after, before, test } from 'node:test';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { defaultAppIds } from '../catalog/platform-app-ids.ts';

let platform: Constellation;

before(async () => {
  platform = await startConstellation();
});
after(() => platform.close());

async function idsOf(account: TestAccount): Promise<string[]> {
  const { items } = await account.browser.take<{ items: { appId: string }[] }>('/v1/apps');
  return items.map(({ appId }) => appId);
}

async function startAgain(): Promise<void> {
  await platform.replica({ config: { ...platform.core.context.config, listenPort: 0 } });
}

/** As when the app was not published yet at the time of its registration. */
async function registerWithout(appId: string, name: string): Promise<TestAccount> {
  const account = await registerAccount(platform, name);
  const { rowCount } = await platform.core.context.pool.query(
    'DELETE FROM installations i USING accounts a WHERE a.key = i.account_key AND a.name = $1 AND i.app_id = $2',
    [name, appId],
  );
  assert.equal(rowCount, 1);
  return account;
}

test('an account that was registered while an app was missing gets it at the next start, with all it requests', async () => {
  const complete = await registerAccount(platform, 'complete');
  const before = await complete.browser.take('/v1/apps');
  const early = await registerWithout('store', 'early');
  const other = await registerWithout('launcher', 'other');
  await startAgain();
  for (const account of [early, other]) assert.deepEqual((await idsOf(account)).sort(), [...defaultAppIds].sort());
  const permissions = (account: TestAccount) =>
    account.browser.take<{ permissions: unknown }>('/v1/apps/store/permissions').then((view) => view.permissions);
  assert.deepEqual(await permissions(early), await permissions(complete));
  assert.deepEqual(await complete.browser.take('/v1/apps'), before, 'who has them all keeps them as they are');
});

test('who removed an app does not get it again', async () => {
  const account = await registerAccount(platform, 'remover');
  assert.equal((await account.fetch('/v1/apps/wallet', { method: 'DELETE' })).status, 204);
  await startAgain();
  assert.ok(!(await idsOf(account)).includes('wallet'));
});
