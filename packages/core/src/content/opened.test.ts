// What the permissions for collections and files open to an app today, as the owner of the app sees it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { GrantsOpened } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { contentApp, share } from '../../test-support/content.ts';
import { fileCaller } from '../../test-support/files.ts';

const APP = 'counted-lists';
let world: Constellation;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function opened(account: TestAccount, appId: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { grants } = await account.browser.take<GrantsOpened>(`/v1/apps/${appId}/opened`);
  return Object.fromEntries(grants.map(({ id, opens }) => [id, opens.map(({ what, count }) => `${count} ${what}`)]));
}

test('collections count where role, admission and this permission all allow the act, and with what is within', async () => {
  const [ada, ben] = [await registerAccount(world, 'ada-counts'), await registerAccount(world, 'ben-counts')];
  const grants = (['read', 'write', 'manage'] as const).map((act) => ({
    id: `content.collections.${act}` as const,
    resources: act === 'read' ? ['*'] : ['list:*'],
  }));
  const mine = await contentApp(world, ada, APP, grants);
  const his = await contentApp(world, ben, APP, grants);
  await contentApp(world, ada, 'uncounted-lists', grants);
  const list = await mine.made('list', 'Groceries');
  const inner = await mine.made('list', 'Spices', list.id);
  for (const key of ['a', 'b']) await mine.wrote(list.id, key, 'x');
  await mine.wrote(inner.id, 'c', 'x');
  await share(mine, his, list.id, 'viewer');
  const all = ['2 collections', '3 collection-items'];
  const none = ['0 collections', '0 collection-items'];
  const [read, write, manage] = grants.map(({ id }) => id);
  if (read === undefined || write === undefined || manage === undefined) assert.fail();
  assert.deepEqual(await opened(ada, APP), { [read]: all, [write]: all, [manage]: all });
  assert.deepEqual(await opened(ben, APP), { [read]: all, [write]: none, [manage]: none }, 'a viewer writes nothing');
  assert.deepEqual(await opened(ada, 'uncounted-lists'), { [read]: none, [write]: none, [manage]: none });
});

test('the app that looks after files opens those of the account', async () => {
  const cleo = await registerAccount(world, 'cleo-counts');
  const files = await fileCaller(world, cleo);
  const before = (await opened(cleo, 'files'))['files.user.manage'];
  const settings = { method: 'POST', body: Buffer.from('x'), headers: { 'content-type': 'text/plain' } };
  assert.equal((await files('/v1/services/user-files?name=a', settings)).status, 201);
  assert.deepEqual([before, (await opened(cleo, 'files'))['files.user.manage']], [['0 files'], ['1 files']]);
});
