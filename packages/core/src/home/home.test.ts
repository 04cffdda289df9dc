// The tiles of the home screen: kept for the account, whatever is installed and removed, and sent to every page of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type HomeScreen, type HomeTiles, limits } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import { publishTestApp } from '../../../../tests/support/publish.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { withAbsent } from './arrange-tiles.ts';

const ROUTE = '/v1/account/home';

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `arranger-${accounts}`);
}

const home = (account: TestAccount) => account.browser.take<HomeScreen>(ROUTE);
async function read(account: TestAccount): Promise<HomeTiles> {
  const { pinned, order } = await home(account);
  return { pinned, order };
}
const arrange = (account: TestAccount, body: HomeTiles) =>
  account.browser.take<HomeTiles>(ROUTE, { method: 'PUT', body });

test('nothing is arranged at first; what is arranged is kept, for this account alone', async () => {
  const [account, neighbour] = [await newAccount(), await newAccount()];
  assert.deepEqual(await read(account), { pinned: [], order: [] });
  const tiles = { pinned: ['wallet'], order: ['store', 'agent'] };
  assert.deepEqual(await arrange(account, tiles), tiles);
  assert.deepEqual(await read(account), tiles);
  assert.deepEqual(await read(neighbour), { pinned: [], order: [] });
});

test('an app that is removed keeps its place, and an app is pinned or not', async () => {
  const account = await newAccount();
  await arrange(account, { pinned: ['wallet', 'contacts'], order: ['store', 'agent', 'settings'] });
  for (const appId of ['contacts', 'agent']) await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  // As one who sees installed apps only: Wallet is no longer pinned, Settings comes first.
  assert.deepEqual(await arrange(account, { pinned: [], order: ['settings', 'store', 'wallet'] }), {
    pinned: ['contacts'],
    order: ['settings', 'store', 'agent', 'wallet'],
  });
});

test('an account has begun once it installed an app that is no part of the platform, also after it removed it', async () => {
  const [account, author] = [await newAccount(), await newAccount()];
  const begun = async () => (await home(account)).begun;
  // Parts of the platform that come and go are no beginning.
  for (const appId of ['store', 'wallet']) await account.fetch(`/v1/apps/${appId}`, { method: 'DELETE' });
  await account.browser.take('/v1/apps', { body: { appId: 'store' } });
  assert.equal(await begun(), false);
  await publishTestApp(author, 'first-app', {});
  await account.browser.take('/v1/apps', { body: { appId: 'first-app' } });
  assert.equal(await begun(), true);
  await account.fetch('/v1/apps/first-app', { method: 'DELETE' });
  assert.equal(await begun(), true);
  assert.equal((await home(author)).begun, false, 'publishing is not installing');
});

test('every open page of the account is notified', async () => {
  const account = await newAccount();
  const headers = { host: new URL(world.origin).host, cookie: account.cookie };
  const shell = await openEvents({ port: world.port, path: '/v1/events', headers });
  await arrange(account, { pinned: [], order: ['store'] });
  await shell.until(({ events }) => events.some(({ event }) => event === 'apps'));
  shell.close();
});

test('an app named twice, too many apps and what is no app id are refused', async () => {
  const account = await newAccount();
  const many = Array.from({ length: limits.homeTiles.value + 1 }, (_, at) => `app-${at}`);
  for (const order of [['store', 'store'], many, ['Not An Id']]) {
    const answer = await account.fetch(ROUTE, { method: 'PUT', body: { pinned: [], order } });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], answer.text);
  }
});

test('absent apps stay behind the app they stood behind, and never push out what is wanted', () => {
  const installed = new Set(['a', 'c', 'e']);
  const keep = (former: string[], order: string[]) =>
    withAbsent({ pinned: [], order: former }, { pinned: [], order }, installed).order;
  assert.deepEqual(keep(['x', 'a', 'y', 'z', 'c'], ['c', 'a']), ['x', 'c', 'a', 'y', 'z']);
  // An installed app that is left out has no place of its own any more.
  assert.deepEqual(keep(['a', 'c', 'e'], ['e']), ['e']);
  // Whoever sees absent apps too may move them.
  assert.deepEqual(keep(['a', 'x'], ['x', 'a']), ['x', 'a']);
  const most = Array.from({ length: limits.homeTiles.value }, (_, at) => `app-${at}`);
  assert.deepEqual(keep(['x'], most), most);
  assert.deepEqual(withAbsent({ pinned: ['x'], order: [] }, { pinned: [], order: ['x'] }, installed), {
    pinned: [],
    order: ['x'],
  });
});
