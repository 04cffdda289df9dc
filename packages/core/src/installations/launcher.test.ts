// The home screen of an account: chosen by its session, kept in the database, and Launcher whenever the choice is void.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstalledApp } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { install, nodeWorkload, publish } from '../../test-support/apps.ts';

const registers = { id: 'apps.launcher.register' as const, resources: ['self'] };

let platform: Constellation;
let ada: TestAccount;

before(async () => {
  platform = await startConstellation();
  ada = await registerAccount(platform, 'ada');
  await publish(ada, 'porch', { permissions: [registers] });
  await publish(ada, 'window');
  await publish(ada, 'cellar', { permissions: [registers], frontend: undefined, workload: nodeWorkload });
  for (const appId of ['porch', 'window', 'cellar']) await install(ada, appId);
});
after(() => platform.close());

const choose = (appId: string, account = ada) =>
  account.fetch('/v1/account/launcher', { method: 'PUT', body: { appId } });
const restore = () => ada.fetch('/v1/account/launcher', { method: 'DELETE' });

async function homes(account = ada): Promise<string[]> {
  const { items } = await account.browser.take<{ items: InstalledApp[] }>('/v1/apps');
  return items.filter(({ home }) => home).map(({ appId }) => appId);
}

test('is Launcher, then the app that was chosen, then Launcher again', async () => {
  assert.deepEqual(await homes(), ['launcher']);
  assert.equal((await choose('porch')).status, 204);
  assert.deepEqual(await homes(), ['porch']);
  assert.equal((await restore()).status, 204);
  assert.deepEqual(await homes(), ['launcher']);
  assert.equal((await restore()).status, 204, 'restoring twice is no error');
});

test('may be an app that holds the grant and has a page, and no other', async () => {
  const refusals = { window: 'grant_missing', cellar: 'invalid_request', 'not-there': 'not_found' };
  for (const [appId, code] of Object.entries(refusals)) assert.equal(problemCode(await choose(appId)), code, appId);
  const stranger = await registerAccount(platform, 'stranger');
  assert.equal(problemCode(await choose('porch', stranger)), 'not_found');
  assert.deepEqual(await homes(), ['launcher']);
});

test('is Launcher while the app lacks the grant, and once it was removed, also when it comes back', async () => {
  await choose('porch');
  const grant = (permissions: readonly object[]) =>
    ada.browser.take('/v1/apps/porch/permissions', { method: 'PUT', body: { permissions } });
  await grant([]);
  assert.deepEqual(await homes(), ['launcher']);
  await grant([registers]);
  assert.deepEqual(await homes(), ['porch']);
  await ada.fetch('/v1/apps/porch', { method: 'DELETE' });
  await install(ada, 'porch');
  assert.deepEqual(await homes(), ['launcher']);
});

test('is nobody’s while Launcher itself is removed, and another account’s stays what it is', async () => {
  const bert = await registerAccount(platform, 'bert');
  await bert.fetch('/v1/apps/launcher', { method: 'DELETE' });
  assert.deepEqual(await homes(bert), []);
  await install(bert, 'porch');
  await choose('porch', bert);
  assert.deepEqual([await homes(bert), await homes()], [['porch'], ['launcher']]);
});

test('every open page of the shell is notified', async () => {
  const headers = { host: new URL(platform.origin).host, cookie: ada.cookie };
  const shell = await openEvents({ port: platform.port, path: '/v1/events', headers });
  const changes = () => shell.events.filter(({ event }) => event === 'apps').length;
  await choose('porch');
  await shell.until(() => changes() === 1);
  await restore();
  await shell.until(() => changes() === 2);
  shell.close();
});
