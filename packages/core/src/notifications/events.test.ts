// Promises of the live streams: everything once and in order, across breaks and replicas, for as long as the caller
// may see it and no longer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Grant, limits, type Notification } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type EventReader, openEvents } from '../../../../tests/support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { until } from '../../../../tests/support/wait.ts';

const ROUTE = '/v1/services/notifications';

let world: Constellation;
let accounts = 0;
let apps = 0;
let replica: Constellation['core'];
before(async () => {
  const first = await startConstellation();
  replica = await first.replica();
  // The local node has one credential: that of the last start.
  world = { ...first, core: { ...first.core, localNode: replica.localNode } };
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `listener-${accounts}`);
}

async function keyOf({ name }: TestAccount): Promise<string> {
  const { pool } = world.core.context;
  const { rows } = await pool.query<{ key: string }>('SELECT key FROM accounts WHERE name = $1', [name]);
  return rows[0]?.key ?? '';
}

const publish = (...resources: string[]): Grant => ({ id: 'notifications.publish', resources });
const read = (...resources: string[]): Grant => ({ id: 'notifications.read', resources });

/** An app of its own for each test: what is published under an id asks for the same grants for ever. */
function newApp(account: TestAccount, name: string, ...grants: Grant[]): Promise<InstalledTestApp> {
  apps += 1;
  return installTestApp(world, account, `${name}-${apps}`, grants);
}

interface Where {
  readonly port?: number;
  readonly lastEventId?: string | undefined;
}

function resume({ lastEventId }: Where): Record<string, string> {
  return lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
}

function listen(account: TestAccount, where: Where = {}): Promise<EventReader> {
  const port = where.port ?? world.port;
  const host = `shell.platform.localhost:${port}`;
  return openEvents({ port, path: '/v1/events', headers: { host, cookie: account.cookie, ...resume(where) } });
}

function listenAs(app: InstalledTestApp, where: Where = {}): Promise<EventReader> {
  const headers = { host: new URL(world.origin).host, authorization: `Bearer ${app.credential}`, ...resume(where) };
  return openEvents({ port: world.port, path: `${ROUTE}/stream`, headers });
}

async function send(app: InstalledTestApp, title: string, more: object = {}): Promise<Notification> {
  const answer = await app.call(ROUTE, { body: { topic: 'news', title, ...more } });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json as { notification: Notification }).notification;
}

function titlesOf({ events }: EventReader): string[] {
  return events.flatMap(({ event, data }) =>
    event === 'notification' ? [(data as { notification: Notification }).notification.title] : [],
  );
}

function readIdsOf({ events }: EventReader): string[] {
  return events.flatMap(({ event, data }) => (event === 'notifications-read' ? (data as { ids: string[] }).ids : []));
}

test('a stream brings what is published from its beginning on, as the list shows it', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  await send(app, 'before');
  const stream = await listen(account);
  assert.equal(stream.status, 200);
  assert.match(stream.headers['content-type'] ?? '', /^text\/event-stream/);
  assert.equal(stream.headers['cache-control'], 'no-store');
  const sent = await send(app, 'after');
  await stream.until(({ events }) => events.length > 0);
  assert.deepEqual(stream.events[0]?.data, { notification: sent });
  assert.equal(stream.lastEventId, stream.events[0]?.id);
  stream.close();
});

test('a stream that is resumed brings exactly what was missed, on any replica', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const first = await listen(account);
  await send(app, 'one');
  await first.until((stream) => titlesOf(stream).length === 1);
  first.close();
  await first.ended;
  await send(app, 'two');
  await send(app, 'three');
  const second = await listen(account, { port: replica.port, lastEventId: first.lastEventId });
  await send(app, 'four');
  await second.until((stream) => titlesOf(stream).length === 3);
  assert.deepEqual(titlesOf(second), ['two', 'three', 'four']);
  second.close();
});

test('a stream that broke before its first event is resumed from its beginning', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  await send(app, 'long ago');
  const first = await listen(account);
  await first.until(({ lastEventId }) => lastEventId !== undefined);
  first.close();
  await send(app, 'missed');
  const second = await listen(account, { lastEventId: first.lastEventId });
  await second.until((stream) => titlesOf(stream).length === 1);
  assert.deepEqual(titlesOf(second), ['missed']);
  second.close();
});

test('with many publishing at once and a reader that breaks again and again, each event comes once', {
  timeout: 120_000,
}, async () => {
  const account = await newAccount();
  const senders: InstalledTestApp[] = [];
  for (const name of ['one', 'two', 'three']) senders.push(await newApp(account, name, publish('*')));
  const each = 60;
  let stream = await listen(account);
  const published = Promise.all(
    senders.flatMap((app) =>
      // Three at a time for every app.
      [0, 1, 2].map(async (lane) => {
        for (let index = lane; index < each; index += 3) await send(app, `${app.appId} ${index}`);
      }),
    ),
  );
  const seen: string[] = [];
  const wanted = senders.length * each;
  for (let round = 1; seen.length < wanted; round += 1) {
    const some = Math.min(round * 3, wanted - seen.length);
    await stream.until((one) => titlesOf(one).length >= some);
    stream.close();
    await stream.ended;
    seen.push(...titlesOf(stream));
    stream = await listen(account, { lastEventId: stream.lastEventId });
  }
  await published;
  stream.close();
  assert.equal(new Set(seen).size, wanted);
  assert.equal(seen.length, wanted, 'none came twice');
});

test('an app receives only the topics of its grant, and which of their records are read', async () => {
  const account = await newAccount();
  const sender = await newApp(account, 'sender', publish('*'));
  const reader = await newApp(account, 'reader', read('mail.*'));
  const stream = await listenAs(reader);
  const news = await send(sender, 'news');
  const mail = await send(sender, 'mail', { topic: 'mail.new' });
  await account.browser.take('/v1/notifications/read-all', { method: 'POST' });
  await stream.until((one) => readIdsOf(one).length > 0);
  assert.deepEqual(titlesOf(stream), ['mail']);
  assert.deepEqual(readIdsOf(stream), [mail.id]);
  assert.ok(!JSON.stringify(stream.events).includes(news.id));
  stream.close();
});

test('the ids of read records are sent, and sent again to a stream that reconnects', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const stream = await listen(account);
  const ids = [];
  for (let index = 0; index < 200; index += 1) ids.push((await send(app, `n${index}`)).id);
  await stream.until((one) => titlesOf(one).length === 200);
  const [one = ''] = ids;
  await account.browser.take(`/v1/notifications/${one}/read`, { method: 'POST' });
  await stream.until((reader) => readIdsOf(reader).length === 1);
  assert.deepEqual(readIdsOf(stream), [one]);
  await account.browser.take(`/v1/notifications/${one}/read`, { method: 'POST' });
  await account.browser.take('/v1/notifications/read-all', { method: 'POST' });
  await stream.until((reader) => readIdsOf(reader).length === 200);
  assert.deepEqual(readIdsOf(stream).sort(), ids.toSorted());
  stream.close();
  await stream.ended;
  const again = await listen(account, { lastEventId: stream.lastEventId });
  await again.until((reader) => readIdsOf(reader).length > 0);
  assert.deepEqual(readIdsOf(again).sort(), ids.toSorted());
  again.close();
});

test('the shell is notified that its apps changed; an app is not', async () => {
  const account = await newAccount();
  const reader = await newApp(account, 'reader', read('*'));
  const [shell, app] = [await listen(account), await listenAs(reader)];
  const sender = await newApp(account, 'sender', publish('*'));
  await shell.until(({ events }) => events.some(({ event }) => event === 'apps'));
  await send(sender, 'after');
  await app.until((one) => titlesOf(one).length === 1);
  assert.ok(app.events.every(({ event }) => event === 'notification'));
  shell.close();
  app.close();
});

test('the stream of a session ends with the session, here and on other replicas', async () => {
  const account = await newAccount();
  const other = await signIn(world, account.authenticator);
  const [here, there, kept] = [
    await listen(account),
    await listen(account, { port: replica.port }),
    await listen(other),
  ];
  await account.browser.take('/v1/auth/logout', { method: 'POST' });
  await Promise.all([here.ended, there.ended]);
  const app = await newApp(other, 'sender', publish('*'));
  await send(app, 'still here');
  await kept.until((stream) => titlesOf(stream).length === 1);
  kept.close();
});

test('the stream of an app ends when its grants change, when it is removed and when its workload starts anew', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'reader', read('*'));
  const change = { method: 'PUT', body: { permissions: [read('mail')] } };
  const endings: [string, () => Promise<unknown>][] = [
    ['a restart', () => app.restart()],
    ['a change of grants', () => account.browser.take(`/v1/apps/${app.appId}/permissions`, change)],
    ['its removal', () => account.browser.take(`/v1/apps/${app.appId}`, { method: 'DELETE' })],
  ];
  for (const [why, act] of endings) {
    const stream = await listenAs(app);
    assert.equal(stream.status, 200, why);
    await act();
    await stream.ended;
  }
  assert.equal((await listenAs(app)).status, 401);
});

test('the stream of a frontend ends with the session that opened it', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'reader', read('*'));
  const { capability } = await app.openFrontend();
  const headers = { host: new URL(world.origin).host, authorization: `Bearer ${capability}`, origin: app.origin };
  const stream = await openEvents({ port: world.port, path: `${ROUTE}/stream`, headers });
  assert.equal(stream.status, 200);
  assert.equal(stream.headers['access-control-allow-origin'], app.origin);
  await account.browser.take('/v1/auth/logout', { method: 'POST' });
  await stream.ended;
});

test('an account has a bounded number of streams, and a closed one makes room', async () => {
  const account = await newAccount();
  const open = await Promise.all(Array.from({ length: limits.eventStreams.value }, () => listen(account)));
  assert.deepEqual(new Set(open.map(({ status }) => status)), new Set([200]));
  const refused = await listen(account);
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '10']);
  const [first] = open;
  first?.close();
  await first?.ended;
  let room = await listen(account);
  while (room.status === 429) room = await listen(account);
  assert.equal(room.status, 200);
  for (const stream of [...open, room]) stream.close();
});

test('the apps of an account have a bounded number of streams together, which leaves the shell its own', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'reader', read('*'));
  const each = limits.eventStreams.value;
  const apps = [app];
  while (apps.length * each <= limits.appEventStreams.value) apps.push(await newApp(account, 'reader', read('*')));
  const open = await Promise.all(apps.flatMap((one) => Array.from({ length: each }, () => listenAs(one))));
  const counts = [200, 429].map((wanted) => open.filter(({ status }) => status === wanted).length);
  assert.deepEqual(counts, [limits.appEventStreams.value, apps.length * each - limits.appEventStreams.value]);
  const shell = await listen(account);
  assert.equal(shell.status, 200);
  const stranger = await newApp(await newAccount(), 'reader', read('*'));
  const elsewhere = await listenAs(stranger);
  assert.equal(elsewhere.status, 200, 'another account is not touched');
  for (const stream of [...open, shell, elsewhere]) stream.close();
});

test('a stream that waited for its rate while the grant was revoked is refused', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'reader', read('*'));
  const { pool } = world.core.context;
  const lock = await pool.connect();
  try {
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE rate_buckets IN ACCESS EXCLUSIVE MODE');
    const opening = listenAs(app);
    await until('the stream to wait for its rate', async () => {
      const waiting = "SELECT FROM pg_locks WHERE relation = 'rate_buckets'::regclass AND NOT granted";
      return ((await lock.query(waiting)).rowCount ?? 0) > 0;
    });
    // Past the routes, whose rates are locked as well: what a PUT of the permissions does.
    await pool.query("UPDATE installations SET grants = '[]' WHERE id = $1", [app.installationId]);
    await pool.query("SELECT pg_notify('platform_signals', $1)", [
      JSON.stringify({
        name: 'installation-changed',
        data: { installationId: app.installationId, accountKey: await keyOf(account) },
      }),
    ]);
    await world.core.context.signals.settled(pool);
    await lock.query('COMMIT');
    const stream = await opening;
    stream.close();
    assert.equal(stream.status, 403);
  } finally {
    lock.release();
  }
});

test('an id that was never sent is refused, one from the future waits for nothing', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  assert.equal((await listen(account, { lastEventId: 'abc' })).status, 400);
  const stream = await listen(account, { lastEventId: '999999999999999999' });
  await send(app, 'now');
  await stream.until((one) => titlesOf(one).length === 1);
  stream.close();
});
