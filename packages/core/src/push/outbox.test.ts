// Promises of the outbox, against a push service over TLS that verifies and decrypts: every answer it can give, the order
// of messages, what collapses, and what is not sent any more.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, limits } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { type PushedBrowser, type PushService, startPushService } from '../../../../tests/support/push-service.ts';
import { until } from '../../../../tests/support/wait.ts';
import { databaseText } from '../../test-support/database-sweep.ts';
import { createCoreMetrics } from '../metrics.ts';

const metrics = createCoreMetrics();
let world: Constellation;
let service: PushService;
let publicKey: string;
let accounts = 0;
before(async () => {
  service = await startPushService();
  world = await startConstellation({
    config: { pushPrivateOrigins: [service.origin] },
    push: { ca: service.ca, firstRetryMilliseconds: 40 },
    metrics,
  });
});
after(async () => {
  await world.close();
  await service.close();
});

interface Stage {
  readonly account: TestAccount;
  readonly app: InstalledTestApp;
  readonly browser: PushedBrowser;
}

async function subscribe(account: TestAccount, browser = service.newBrowser(publicKey)): Promise<PushedBrowser> {
  const answer = await account.fetch('/v1/push/subscriptions', { method: 'POST', body: browser.body });
  assert.equal(answer.status, 201, answer.text);
  return browser;
}

async function newStage(): Promise<Stage> {
  accounts += 1;
  const account = await registerAccount(world, `outbox-${accounts}`);
  ({ publicKey } = await account.browser.take<{ publicKey: string }>('/v1/push/key'));
  const grants: Grant[] = [{ id: 'notifications.publish', resources: ['*'] }];
  const app = await installTestApp(world, account, `pusher-${accounts}`, grants);
  return { account, app, browser: await subscribe(account) };
}

async function publish(app: InstalledTestApp, title: string, more: object = {}): Promise<string> {
  const body = { topic: 'news', title, delivery: 'inbox-and-web-push', ...more };
  const answer = await app.call('/v1/services/notifications', { body });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { notification: { id: string } }).notification.id;
}

/** What an operator reads of web push, without the prefix that all of it has. */
async function counted(): Promise<Record<string, number>> {
  const lines = (await metrics.text()).matchAll(/^platform_core_push_(\S+) (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value]) => [name, Number(value)]));
}

/** By how much that changed, without what stayed the same. */
async function countedBy(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await counted();
  await work();
  const rises = Object.entries(await counted()).map(([name, value]) => [name, value - (before[name] ?? 0)] as const);
  return Object.fromEntries(rises.filter(([, rise]) => rise !== 0));
}

const titles = ({ received }: PushedBrowser) => received.map(({ payload }) => payload.title);

async function query<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  return (await world.core.context.pool.query<Row>(text, values)).rows;
}

const WAITING = `SELECT m.sequence, s.id, s.due_at, s.leased_until, m.attempts FROM push_subscriptions s
  JOIN accounts a ON a.key = s.account_key LEFT JOIN push_messages m ON m.subscription_id = s.id WHERE a.name = $1`;

interface Waiting {
  readonly sequence: string | null;
  readonly due_at: Date | null;
  readonly leased_until: Date | null;
  readonly attempts: number | null;
}

/** Waits until the rows of an account in the outbox are what a test expects of them. */
async function untilRows(
  account: TestAccount,
  holds: (rows: readonly Waiting[]) => boolean,
): Promise<readonly Waiting[]> {
  return until('the outbox of the account', async () => {
    const rows = await query<Waiting>(WAITING, account.name);
    return holds(rows) && rows;
  });
}

const nothingWaits = (rows: readonly Waiting[]) =>
  rows.every(({ sequence, due_at }) => sequence === null && due_at === null);

test('a message arrives encrypted and signed, and says what its service worker needs', async () => {
  const { account, app, browser } = await newStage();
  const id = await publish(app, 'Tea is ready', {
    body: 'In the kitchen.',
    priority: 'high',
    dedupeKey: 'tea',
    presentation: {
      tone: 'success',
      expiresInSeconds: 600,
      actions: [{ id: 'open', label: 'Open', type: 'open-app', target: '?pot=1' }],
    },
  });
  const [push] = await browser.until(1);
  assert.deepEqual(push?.payload, {
    id,
    appId: app.appId,
    appName: app.appId,
    title: 'Tea is ready',
    body: 'In the kitchen.',
    tone: 'success',
    priority: 'high',
  });
  assert.equal(push.headers.urgency, 'high');
  assert.match(String(push.headers.topic), /^[\w-]{32}$/);
  const ttl = Number(push.headers.ttl);
  assert.ok(ttl > 500 && ttl <= 600, `${ttl}`);
  assert.equal(push.claims.sub, 'mailto:operator@platform.example');
  await untilRows(account, nothingWaits);
  assert.deepEqual(service.faults, []);
});

test('only what asks for web push and is not muted is sent; each browser of the account gets it, no other', async () => {
  const [{ account, app, browser }, stranger] = [await newStage(), await newStage()];
  const second = await subscribe(await signIn(world, account.authenticator));
  await publish(app, 'system only', { delivery: 'inbox-and-system' });
  await publish(app, 'inbox only', { delivery: 'inbox' });
  const settings = '/v1/account/notification-settings';
  const muted = [{ appId: app.appId, topic: 'quiet' }];
  await account.browser.take(settings, { method: 'PATCH', body: { muted } });
  await publish(app, 'muted', { topic: 'quiet' });
  await account.browser.take(settings, { method: 'PATCH', body: { webPush: false } });
  await publish(app, 'switched off');
  await account.browser.take(settings, { method: 'PATCH', body: { webPush: true } });
  await publish(app, 'sent');
  for (const one of [browser, second]) {
    await one.until(1);
    assert.deepEqual(titles(one), ['sent']);
  }
  await untilRows(account, nothingWaits);
  assert.deepEqual(titles(stranger.browser), []);
});

test('two browsers of an account get one notification under different topics', async () => {
  const { account, app, browser } = await newStage();
  const second = await subscribe(await signIn(world, account.authenticator));
  await publish(app, 'the same', { dedupeKey: 'one key' });
  const [[first], [other]] = [await browser.until(1), await second.until(1)];
  for (const received of [first, other]) assert.match(String(received?.headers.topic), /^[\w-]{32}$/);
  assert.notEqual(first?.headers.topic, other?.headers.topic);
  await untilRows(account, nothingWaits);
});

test('messages of a browser keep their order, also when one has to be repeated', async () => {
  const { account, app, browser } = await newStage();
  browser.answer({ status: 500 }, { status: 503 }, { status: 429 });
  for (const title of ['1', '2', '3', '4']) await publish(app, title);
  await browser.until(7);
  assert.deepEqual(titles(browser), ['1', '1', '1', '1', '2', '3', '4']);
  await untilRows(account, nothingWaits);
});

test('Retry-After is waited for, but an hour at most', async () => {
  for (const [asked, least, most] of [
    ['600', 590, 601],
    ['86400', 3_590, 3_601],
    [new Date(Date.now() + 600_000).toUTCString(), 590, 601],
  ] as const) {
    const { account, app, browser } = await newStage();
    browser.answer({ status: 429, headers: { 'retry-after': asked } });
    await publish(app, 'later');
    const [row] = await untilRows(account, (rows) => rows[0]?.attempts === 1 && rows[0].leased_until === null);
    const seconds = ((row?.due_at?.getTime() ?? 0) - Date.now()) / 1000;
    assert.ok(seconds > least - 10 && seconds <= most, `${asked}: ${seconds}`);
    // A new message does not go before it.
    await publish(app, 'after it');
    assert.deepEqual(
      (await query<Waiting>(WAITING, account.name)).map(({ due_at }) => due_at),
      [row?.due_at, row?.due_at],
    );
  }
});

for (const status of [404, 410]) {
  test(`a browser that its push service knows no more (${status}) is forgotten with all that waits`, async () => {
    const { account, app, browser } = await newStage();
    browser.answer({ status });
    await publish(app, 'nobody there');
    await untilRows(account, (rows) => rows.length === 0);
    assert.equal(browser.received.length, 1);
  });
}

test('413 is answered with a shortened message, once', async () => {
  const { account, app, browser } = await newStage();
  browser.answer({ status: 413 });
  await publish(app, 'long', { body: 'ä'.repeat(2_000) });
  const [long, short] = await browser.until(2);
  assert.ok(long !== undefined && short !== undefined);
  assert.ok(Buffer.byteLength(JSON.stringify(long.payload)) <= limits.pushPayload.value, 'the first fits as well');
  assert.ok(Buffer.byteLength(JSON.stringify(short.payload)) <= 1_200);
  assert.deepEqual(
    [long.payload.id, 'long', true],
    [short.payload.id, short.payload.title, short.payload.body.endsWith('…')],
  );
  browser.answer({ status: 413 }, { status: 413 });
  await publish(app, 'never', { body: 'x'.repeat(2_000) });
  await browser.until(4);
  await untilRows(account, nothingWaits);
  assert.equal(browser.received.length, 4);
});

for (const status of [400, 403, 307]) {
  test(`after ${status} the message is dropped and the next one sent; the log does not say where`, async () => {
    const { account, app, browser } = await newStage();
    browser.answer({ status, headers: { location: `${service.origin}/elsewhere` } });
    await publish(app, 'refused');
    await publish(app, 'taken');
    await browser.until(2);
    assert.deepEqual(titles(browser), ['refused', 'taken']);
    await untilRows(account, nothingWaits);
    const log = JSON.stringify(world.log);
    assert.ok(log.includes(`status ${status}`));
    assert.ok(!log.includes(new URL(browser.body.endpoint).pathname), 'the endpoint is a capability');
    assert.deepEqual(service.faults, [], 'no redirect is followed');
  });
}

/** Keeps the front of a queue waiting, so that what is behind it can be looked at. */
async function hold({ account, app, browser }: Stage): Promise<void> {
  browser.answer({ status: 503, headers: { 'retry-after': '1800' } });
  await publish(app, 'in front');
  await untilRows(account, (rows) => rows[0]?.attempts === 1 && rows[0].leased_until === null);
}

/** Lets it go on. */
async function release({ account }: Stage): Promise<void> {
  await query(
    'UPDATE push_subscriptions s SET due_at = now() FROM accounts a WHERE a.key = s.account_key AND a.name = $1',
    account.name,
  );
  await query(`SELECT pg_notify('platform_signals', '{"name":"push-queued","data":{}}')`);
}

test('what was read, has expired or was removed is not sent any more', async () => {
  const stage = await newStage();
  const { account, app, browser } = stage;
  await hold(stage);
  const read = await publish(app, 'read');
  const removed = await publish(app, 'removed');
  const expired = await publish(app, 'expired', { presentation: { expiresInSeconds: 60 } });
  await publish(app, 'last');
  assert.equal((await account.fetch(`/v1/notifications/${read}/read`, { method: 'POST' })).status, 200);
  await query('DELETE FROM notifications WHERE id = $1', removed);
  await query("UPDATE push_messages SET expires_at = now() - interval '1 s' WHERE notification_id = $1", expired);
  await release(stage);
  await browser.until(3);
  assert.deepEqual(titles(browser), ['in front', 'in front', 'last']);
  await untilRows(account, nothingWaits);
});

test('a newer message of the same dedupe key takes the place of one that waits', async () => {
  const stage = await newStage();
  const { account, app, browser } = stage;
  await hold(stage);
  const first = await publish(app, 'old', { dedupeKey: 'k' });
  // The key is free again for a new record, and the old record is still there.
  await query('UPDATE notifications SET dedupe_key = NULL WHERE id = $1', first);
  await publish(app, 'new', { dedupeKey: 'k' });
  await release(stage);
  await browser.until(3);
  assert.deepEqual(titles(browser), ['in front', 'in front', 'new']);
  await untilRows(account, nothingWaits);
});

test('with the session of a browser its messages go', async () => {
  const stage = await newStage();
  await hold(stage);
  await stage.account.fetch('/v1/auth/logout', { method: 'POST' });
  assert.deepEqual(await query(WAITING, stage.account.name), []);
});

test('a browser has so many messages waiting; the oldest go first', async () => {
  const stage = await newStage();
  const { account, app } = stage;
  await hold(stage);
  await query(
    `INSERT INTO push_messages (subscription_id, notification_id, urgency, sealed, expires_at)
     SELECT m.subscription_id, m.notification_id, 'low', ''::bytea, m.expires_at
       FROM push_messages m JOIN push_subscriptions s ON s.id = m.subscription_id
       JOIN accounts a ON a.key = s.account_key, generate_series(2, $2::int) WHERE a.name = $1`,
    account.name,
    limits.pushWaiting.value,
  );
  const before = await query<Waiting>(`${WAITING} ORDER BY m.sequence`, account.name);
  const given = await countedBy(() => publish(app, 'one more'));
  assert.equal(given['dropped_total{reason="surplus"}'], 1);
  const rows = await query<Waiting>(`${WAITING} ORDER BY m.sequence`, account.name);
  assert.equal(rows.length, limits.pushWaiting.value);
  assert.equal(rows[0]?.sequence, before[1]?.sequence);
});

test('what waits is sealed in the database', async () => {
  const stage = await newStage();
  await hold(stage);
  await publish(stage.app, 'A title that is looked for');
  await query("UPDATE notifications SET title = 'x' WHERE title = 'A title that is looked for'");
  const text = await databaseText(world.core.context.pool);
  for (const form of ['A title that is looked for', Buffer.from('A title that').toString('hex')])
    assert.ok(!text.includes(form), form);
});

test('what becomes of messages is counted, with the reason for what is dropped', async () => {
  const stage = await newStage();
  const { account, app, browser } = stage;
  const settled = async (count: number) => {
    await browser.until(count);
    await untilRows(account, nothingWaits);
  };
  const publishAndSettle = (count: number, ...statuses: number[]) =>
    countedBy(async () => {
      browser.answer(...statuses.map((status) => ({ status })));
      await publish(app, 'counted', { body: 'x'.repeat(1_500) });
      await settled(count);
    });
  assert.deepEqual(await publishAndSettle(1, 201), { sent_total: 1 });
  assert.deepEqual(await publishAndSettle(3, 503), { sent_total: 1, failed_total: 1 });
  assert.deepEqual(await publishAndSettle(4, 403), { 'dropped_total{reason="refused"}': 1 });
  assert.deepEqual(await publishAndSettle(6, 413), { sent_total: 1 });
  assert.deepEqual(await publishAndSettle(8, 413, 413), { 'dropped_total{reason="too-large"}': 1 });
  const held = await countedBy(() => hold(stage));
  assert.deepEqual(held, { failed_total: 1, waiting: 1 });
  await publish(app, 'too old');
  await query(
    "UPDATE push_messages SET expires_at = now() - interval '1 s' WHERE sequence IN (SELECT max(sequence) FROM push_messages)",
  );
  const released = await countedBy(async () => {
    await release(stage);
    await settled(10);
  });
  assert.deepEqual(released, { sent_total: 1, 'dropped_total{reason="expired"}': 1, waiting: -2 });
  const gone = await countedBy(async () => {
    browser.answer({ status: 410 });
    await publish(app, 'nobody there');
    await untilRows(account, (rows) => rows.length === 0);
  });
  assert.deepEqual(gone, { 'dropped_total{reason="gone"}': 1 });
});

test('replicas share the work, and a lease that ran out is taken over', async () => {
  const stage = await newStage();
  const { account, app, browser } = stage;
  await hold(stage);
  await world.replica({ metrics: createCoreMetrics() });
  await publish(app, 'taken over');
  // As a worker leaves it that was killed.
  await query(
    `UPDATE push_subscriptions s SET due_at = now(), lease = 'dead', leased_until = now() + interval '300 ms'
       FROM accounts a WHERE a.key = s.account_key AND a.name = $1`,
    account.name,
  );
  await query(`SELECT pg_notify('platform_signals', '{"name":"push-queued","data":{}}')`);
  await browser.until(3);
  assert.deepEqual(titles(browser), ['in front', 'in front', 'taken over']);
  await untilRows(account, nothingWaits);
});
