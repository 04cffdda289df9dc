// What grants open today, as the owner of an app sees it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, type GrantsOpened, grantsOpened } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';

const ASKED: readonly Grant[] = [
  { id: 'apps.catalog.read', resources: ['other-*'] },
  { id: 'notifications.publish', resources: ['news'] },
  { id: 'notifications.read', resources: ['news'] },
  { id: 'search.index', resources: ['self'] },
  { id: 'messaging.read', resources: ['*'] },
  { id: 'mcp.tools.call', resources: ['platform-notifications.*'] },
  { id: 'account.profile.read', resources: ['self'] },
];

let world: Constellation;
let ada: TestAccount;
let app: InstalledTestApp;
before(async () => {
  world = await startConstellation();
  ada = await registerAccount(world, 'ada');
  await installTestApp(world, ada, 'other-one', []);
  app = await installTestApp(world, ada, 'looked-at', ASKED);
});
after(() => world.close());

async function opened(account = ada): Promise<Readonly<Record<string, readonly string[]>>> {
  const answer = await account.browser.take<GrantsOpened>('/v1/apps/looked-at/opened');
  assert.deepEqual(grantsOpened.parse(answer), answer);
  return Object.fromEntries(
    answer.grants.map(({ id, opens }) => [
      id,
      opens.map(({ what, count, more }) => `${more ? 'more than ' : ''}${count} ${what}`),
    ]),
  );
}

test('each grant is counted by what it opens, and nothing is said of one that opens nothing to count', async () => {
  assert.deepEqual(await opened(), {
    'apps.catalog.read': ['1 apps'],
    'notifications.publish': ['0 notifications'],
    'notifications.read': ['0 notifications'],
    'search.index': ['0 search-entries'],
    'messaging.read': ['0 conversations', '0 messages'],
    'mcp.tools.call': ['2 tools'],
  });
});

test('the numbers follow what happens', async () => {
  const sent = await app.call('/v1/services/notifications', { body: { topic: 'news', title: 'Milk' } });
  assert.equal(sent.status, 201, sent.text);
  const items = [{ id: 'a', title: 'A note', kind: 'note', url: '/a' }];
  const indexed = await app.call('/v1/services/search/index', { method: 'PUT', body: { entries: items } });
  assert.ok(indexed.status < 300, indexed.text);
  await installTestApp(world, ada, 'other-two', []);
  const now = await opened();
  assert.deepEqual(now['notifications.publish'], ['1 notifications']);
  assert.deepEqual(now['notifications.read'], ['1 notifications']);
  assert.deepEqual(now['search.index'], ['1 search-entries']);
  assert.deepEqual(now['apps.catalog.read'], ['2 apps']);
});

test('what was taken away opens nothing', async () => {
  const left = ASKED.filter(({ id }) => id === 'search.index');
  await ada.browser.take('/v1/apps/looked-at/permissions', { method: 'PUT', body: { permissions: left } });
  assert.deepEqual(Object.keys(await opened()), ['search.index']);
});

test('others do not see it', async () => {
  const ben = await registerAccount(world, 'ben');
  assert.equal((await ben.fetch('/v1/apps/looked-at/opened')).status, 404);
});
