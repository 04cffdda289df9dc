// Notification settings: stored per account, sent to every page of its shell; a mute silences every surface but the
// inbox.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type NotificationSettings } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import { installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../tests/support/raw-http.ts';
import { allowedSurfaces } from './settings.ts';

const ROUTE = '/v1/account/notification-settings';
const everything: NotificationSettings = { system: true, webPush: true, flashes: true, muted: [] };

let world: Constellation;
let accounts = 0;
before(async () => {
  world = await startConstellation();
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `silent-${accounts}`);
}

const read = (account: TestAccount) => account.browser.take<NotificationSettings>(ROUTE);
const change = (account: TestAccount, body: object) =>
  account.browser.take<NotificationSettings>(ROUTE, { method: 'PATCH', body });

async function allowed(account: TestAccount, appId: string, topic: string) {
  const { database } = world.core.context;
  const { key } = await database
    .selectFrom('accounts')
    .select('key')
    .where('name', '=', account.name)
    .executeTakeFirstOrThrow();
  // Beside a neighbour's, whose answer must not be taken for this one's.
  const [, own] = await allowedSurfaces(database, [
    { accountKey: 'acc-neighbour', appId, topic },
    { accountKey: key, appId, topic },
  ]);
  return own;
}

test('at first everything is on and nothing muted; what is named changes and the rest stays', async () => {
  const [account, neighbour] = [await newAccount(), await newAccount()];
  assert.deepEqual(await read(account), everything);
  assert.deepEqual(await change(account, { flashes: false }), { ...everything, flashes: false });
  const muted = [
    { appId: 'alpha', topic: null },
    { appId: 'alpha', topic: 'news' },
    { appId: 'beta', topic: 'news' },
  ];
  const changed = { ...everything, flashes: false, muted };
  assert.deepEqual(await change(account, { muted: muted.toReversed() }), changed);
  assert.deepEqual(await change(account, { system: false }), { ...changed, system: false });
  assert.deepEqual(await change(account, { system: true, flashes: true, muted: [] }), everything);
  assert.deepEqual(await change(account, {}), everything);
  assert.deepEqual(await read(neighbour), everything);
});

test('a list that is too long, repeats itself or names no app changes nothing', async () => {
  const account = await newAccount();
  const many = Array.from({ length: limits.notificationMutes.value + 1 }, (_, at) => ({
    appId: `app-${at}`,
    topic: null,
  }));
  const wrong = [
    { system: 'yes' },
    { inbox: false },
    { muted: many },
    { muted: [many[0], many[0]] },
    { muted: [{ appId: 'alpha' }] },
    { muted: [{ appId: '../x', topic: null }] },
    { muted: [{ appId: 'alpha', topic: 'No Topic' }] },
    { mute: many },
    { unmute: [many[0], many[0]] },
    { muted: [], mute: [many[0]] },
    { mute: [many[0]], unmute: [many[1], many[0]] },
  ];
  for (const body of wrong) {
    const answer = await account.fetch(ROUTE, { method: 'PATCH', body: { flashes: false, ...body } });
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_request'], JSON.stringify(body));
  }
  assert.deepEqual(await read(account), everything);
});

test('single entries are muted and unmuted, whatever is there already, and the others stay', async () => {
  const account = await newAccount();
  const [app, topic, other] = [
    { appId: 'alpha', topic: null },
    { appId: 'alpha', topic: 'news' },
    { appId: 'beta', topic: 'news' },
  ];
  assert.deepEqual((await change(account, { mute: [app, topic] })).muted, [app, topic]);
  assert.deepEqual((await change(account, { mute: [topic, other], unmute: [app] })).muted, [topic, other]);
  assert.deepEqual((await change(account, { unmute: [app, topic], flashes: false })).muted, [other]);
  assert.deepEqual(await read(account), { ...everything, flashes: false, muted: [other] });
});

test('mutes made at once all count, up to as many as there may be', async () => {
  const account = await newAccount();
  const most = limits.notificationMutes.value;
  const all = Array.from({ length: most + 3 }, (_, at) => ({
    appId: `app-${String(at).padStart(3, '0')}`,
    topic: null,
  }));
  await change(account, { mute: all.slice(0, most - 9) });
  const answers = await Promise.all(
    all.slice(most - 9).map((mute) => account.fetch(ROUTE, { method: 'PATCH', body: { mute: [mute] } })),
  );
  const refused = answers.filter(({ status }) => status === 400);
  assert.equal(refused.length, 3);
  for (const answer of refused) assert.equal(problemCode(answer), 'invalid_request');
  const muted = new Set((await read(account)).muted.map(({ appId }) => appId));
  const accepted = all.filter((_, at) => at < most - 9 || answers[at - most + 9]?.status === 200);
  assert.deepEqual(muted, new Set(accepted.map(({ appId }) => appId)));
});

test('a muted app or topic may use no surface, and what is switched off is off for all', async () => {
  const [account, neighbour] = [await newAccount(), await newAccount()];
  const all = { system: true, webPush: true, flash: true };
  const none = { system: false, webPush: false, flash: false };
  assert.deepEqual(await allowed(account, 'alpha', 'news'), all);
  await change(account, {
    webPush: false,
    muted: [
      { appId: 'alpha', topic: null },
      { appId: 'beta', topic: 'news' },
    ],
  });
  assert.deepEqual(await allowed(account, 'alpha', 'anything'), none);
  assert.deepEqual(await allowed(account, 'beta', 'news'), none);
  assert.deepEqual(await allowed(account, 'beta', 'other'), { ...all, webPush: false });
  assert.deepEqual(await allowed(account, 'gamma', 'news'), { ...all, webPush: false });
  assert.deepEqual(await allowed(neighbour, 'alpha', 'news'), all);
});

test('what a muted app sends still arrives in the inbox', async () => {
  const account = await newAccount();
  const app = await installTestApp(world, account, 'muted-sender', [{ id: 'notifications.publish', resources: ['*'] }]);
  await change(account, { muted: [{ appId: app.appId, topic: null }] });
  const sent = await app.call('/v1/services/notifications', { body: { topic: 'news', title: 'Quietly' } });
  assert.equal(sent.status, 201, sent.text);
  const { items } = await account.browser.take<{ items: { title: string }[] }>('/v1/notifications');
  assert.deepEqual(
    items.map(({ title }) => title),
    ['Quietly'],
  );
});

test('every page of the shell is notified of a change, and no app is', async () => {
  const account = await newAccount();
  const app = await installTestApp(world, account, 'curious', [
    { id: 'notifications.read', resources: ['*'] },
    { id: 'notifications.publish', resources: ['*'] },
  ]);
  const { host } = new URL(world.origin);
  const page = await openEvents({ port: world.port, path: '/v1/events', headers: { host, cookie: account.cookie } });
  const curious = await openEvents({
    port: world.port,
    path: '/v1/services/notifications/stream',
    headers: { host, authorization: `Bearer ${app.credential}` },
  });
  await change(account, { flashes: false });
  await page.until(({ events }) => events.some(({ event }) => event === 'notification-settings'));
  // A later event of both, so that nothing earlier can still be under way.
  await app.call('/v1/services/notifications', { body: { topic: 'news', title: 'Last' } });
  await curious.until(({ events }) => events.some(({ event }) => event === 'notification'));
  assert.deepEqual(
    curious.events.map(({ event }) => event),
    ['notification'],
  );
  page.close();
  curious.close();
});
