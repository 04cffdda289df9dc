// Core is killed right before and right after a commit. What was not committed has not happened, what was has happened
// whole, and asking again does the rest: nothing lies in between.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Conversation, Grant } from '@platform/contract';
import type { Point } from '@platform/core';
import { MESSAGING, type Writer, writerOf } from '../../packages/core/test-support/messaging.ts';
import { type RequestSettings, registerAccount, type TestAccount, TestBrowser } from '../support/client.ts';
import { type Constellation, startConstellation } from '../support/constellation.ts';
import { startCoreProcess } from '../support/core-process.ts';
import { type InstalledTestApp, installTestApp } from '../support/installed-app.ts';
import { type PushedBrowser, type PushService, startPushService } from '../support/push-service.ts';
import { problemCode } from '../support/raw-http.ts';
import { until } from '../support/wait.ts';

/**
 * What a killed worker held waits so long: longer than a busy machine needs to reach the moment of death. Its heir has
 * all the time that it takes.
 */
const LEASE_MILLISECONDS = 6_000;
const GRANTS: Grant[] = [
  { id: 'notifications.publish', resources: ['*'] },
  { id: 'search.index', resources: ['self'] },
];
const NOTIFICATIONS = '/v1/services/notifications';
const INDEX = '/v1/services/search/index';

let service: PushService;
let world: Constellation;
let account: TestAccount;
let app: InstalledTestApp;
before(async () => {
  service = await startPushService();
  // The constellation's own core sends nothing.
  world = await startConstellation({ config: { vapidSubject: null } });
  account = await registerAccount(world, 'mortal');
  app = await installTestApp(world, account, 'notes-app', GRANTS);
});
after(async () => {
  await world.close();
  await service.close();
});

/** A request to a core that dies at this moment; it gets no answer. */
async function dying(dieAt: Point, path: string, settings: RequestSettings, credential?: string): Promise<void> {
  const core = await startCoreProcess(world, { config: { vapidSubject: null }, dieAt });
  const browser = new TestBrowser(core);
  browser.cookie = account.cookie;
  const headers =
    credential === undefined ? {} : { authorization: `Bearer ${credential}`, cookie: undefined, origin: undefined };
  await assert.rejects(browser.fetch(path, { ...settings, headers }), /ECONNRESET|socket hang up/);
  await core.kill();
}

const installed = async () => (await account.fetch('/v1/apps/settings/permissions')).status === 200;
const uninstall = { method: 'DELETE' };

test('a removal that was not committed leaves the app as it was; one that was has removed it', async () => {
  await dying('installations.uninstall.committing', '/v1/apps/settings', uninstall);
  assert.equal(await installed(), true);
  await dying('installations.uninstall.committed', '/v1/apps/settings', uninstall);
  assert.equal(await installed(), false);
});

test('an installation that was not committed can be repeated; one that was is there', async () => {
  const install = { body: { appId: 'settings' } };
  await dying('installations.install.committing', '/v1/apps', install);
  assert.equal(await installed(), false);
  await dying('installations.install.committed', '/v1/apps', install);
  assert.equal(await installed(), true);
  assert.equal(problemCode(await account.fetch('/v1/apps', install)), 'already_installed');
});

test('a notification that was not committed is none; one that was is there once, however often it is published', async () => {
  const body = { topic: 'news', title: 'once', dedupeKey: 'once', delivery: 'inbox' };
  const stored = async () => {
    const { items } = await account.browser.take<{ items: unknown[] }>('/v1/notifications');
    return items.length;
  };
  await dying('notifications.publish.committing', NOTIFICATIONS, { body }, app.credential);
  assert.equal(await stored(), 0);
  await dying('notifications.publish.committed', NOTIFICATIONS, { body }, app.credential);
  assert.equal(await stored(), 1);
  assert.equal((await app.call(NOTIFICATIONS, { body })).status, 200);
  assert.equal(await stored(), 1);
});

test('a search index that was not committed is the former one; one that was is the new one', async () => {
  const found = async (q: string) =>
    (await account.browser.take<{ items: unknown[] }>(`/v1/search?q=${q}`)).items.length;
  const index = (title: string) => ({ method: 'PUT', body: { entries: [{ id: 'a', title, url: '/a' }] } });
  assert.equal((await app.call(INDEX, index('lighthouse'))).status, 200);
  await dying('search.write.committing', INDEX, index('windmill'), app.credential);
  assert.deepEqual([await found('lighthouse'), await found('windmill')], [1, 0]);
  await dying('search.write.committed', INDEX, index('windmill'), app.credential);
  assert.deepEqual([await found('lighthouse'), await found('windmill')], [0, 1]);
});

test('a message, a request and its acceptance that were not committed are none; those that were are there once', async () => {
  const ada = await writerOf(world, 'mortal-ada');
  const ben = await writerOf(world, 'mortal-ben');
  const first = async (writer: Writer): Promise<Conversation | undefined> => (await writer.conversations())[0];
  const die = (moment: 'committing' | 'committed', { app: { credential } }: Writer, path: string, body?: object) =>
    dying(
      `messaging.change.${moment}`,
      `${MESSAGING}/conversations/${path}`,
      { method: 'POST', ...(body === undefined ? {} : { body }) },
      credential,
    );
  await die('committing', ada, 'direct', { to: 'mortal-ben' });
  assert.deepEqual([await first(ada), await first(ben)], [undefined, undefined]);
  await die('committed', ada, 'direct', { to: 'mortal-ben' });
  const [a, b] = [await first(ada), await first(ben)];
  assert.deepEqual([a?.state, b?.state], ['requested', 'request']);
  await die('committing', ben, `${b?.id}/accept`);
  assert.deepEqual([(await first(ada))?.state, (await first(ben))?.state], ['requested', 'request']);
  await die('committed', ben, `${b?.id}/accept`);
  assert.deepEqual([(await first(ada))?.state, (await first(ben))?.state], ['open', 'open']);
  const { cursor } = await ben.sync();
  const message = { transactionId: 'mortal', message: { body: 'once' } };
  await die('committing', ada, `${a?.id}/messages`, message);
  assert.deepEqual([await ada.bodies(a?.id ?? ''), await ben.bodies(b?.id ?? '')], [[], []]);
  await die('committed', ada, `${a?.id}/messages`, message);
  assert.equal((await ada.send(a?.id ?? '', 'once', 'mortal')).status, 200);
  assert.deepEqual([await ada.bodies(a?.id ?? ''), await ben.bodies(b?.id ?? '')], [['once'], ['once']]);
  assert.equal((await first(ben))?.unread, 1);
  assert.deepEqual(
    (await ben.sync({ cursor })).messages.map(({ body }) => body),
    ['once'],
  );
});

async function subscribe(): Promise<PushedBrowser> {
  const core = await sender();
  const page = new TestBrowser(core);
  page.cookie = account.cookie;
  const { publicKey } = await page.take<{ publicKey: string }>('/v1/push/key');
  const browser = service.newBrowser(publicKey);
  await page.take('/v1/push/subscriptions', { body: browser.body });
  await core.stop();
  return browser;
}

const sender = (dieAt?: Point) =>
  startCoreProcess(world, {
    config: { vapidSubject: 'mailto:operator@platform.example', pushPrivateOrigins: [service.origin] },
    push: { ca: service.ca, ...(dieAt === undefined ? {} : { leaseMilliseconds: LEASE_MILLISECONDS }) },
    ...(dieAt === undefined ? {} : { dieAt }),
  });

for (const [dieAt, times] of [
  ['push.claimed', 1],
  ['push.settle.committing', 2],
  ['push.settle.committed', 1],
] as const) {
  test(`web push whose core is killed at ${dieAt} is sent ${times === 1 ? 'once' : 'again, under the same id'}`, async () => {
    const browser = await subscribe();
    const body = { topic: 'news', title: dieAt, delivery: 'inbox-and-web-push' };
    const mortal = await sender(dieAt);
    const page = new TestBrowser(mortal);
    const headers = { authorization: `Bearer ${app.credential}`, origin: undefined };
    // It may die before it has answered.
    await page.fetch(NOTIFICATIONS, { body, headers }).catch(() => undefined);
    await until('core to be dead', () => mortal.dead, 30_000);
    const heir = await sender();
    const { pool } = world.core.context;
    const waiting = async () => (await pool.query('SELECT FROM push_messages')).rowCount ?? 0;
    await until('nothing to wait', async () => (await waiting()) === 0, 30_000);
    await heir.stop();
    const ids = browser.received.map(({ payload }) => payload.id);
    assert.deepEqual([ids.length, new Set(ids).size], [times, 1]);
    await pool.query('DELETE FROM push_subscriptions');
  });
}

test('a pause that was not committed has stopped nothing; one that was has stopped everything', async () => {
  const paused = async () => (await account.browser.take<{ pausedAt: string | null }>('/v1/runtime')).pausedAt !== null;
  const call = () => app.call(NOTIFICATIONS, { body: { topic: 'news', title: 'still here' } });
  await dying('pause.committing', '/v1/runtime/pause', { method: 'POST' });
  assert.deepEqual([await paused(), (await call()).status], [false, 201]);
  await dying('pause.committed', '/v1/runtime/pause', { method: 'POST' });
  assert.deepEqual([await paused(), problemCode(await call())], [true, 'runtime_paused']);
});
