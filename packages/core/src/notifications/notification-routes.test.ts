// The notification routes: records are stored once, visible by grant, and marked read for all readers at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Grant, Notification } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';

const ROUTE = '/v1/services/notifications';

let world: Constellation;
let now = Date.UTC(2026, 0, 1);
let accounts = 0;
let apps = 0;
before(async () => {
  world = await startConstellation({ clock: () => new Date(now) });
});
after(() => world.close());

async function newAccount(): Promise<TestAccount> {
  accounts += 1;
  return registerAccount(world, `reader-${accounts}`);
}

const publish = (...resources: string[]): Grant => ({ id: 'notifications.publish', resources });
const read = (...resources: string[]): Grant => ({ id: 'notifications.read', resources });

/** An app of its own for each test: what is published under an id asks for the same grants for ever. */
async function newApp(account: TestAccount, name: string, ...grants: Grant[]): Promise<InstalledTestApp> {
  apps += 1;
  return installTestApp(world, account, `${name}-${apps}`, grants);
}

function recordOf(answer: RawAnswer, status: number): Notification {
  assert.equal(answer.status, status, answer.text);
  return (answer.json as { notification: Notification }).notification;
}

async function send(app: InstalledTestApp, body: object): Promise<Notification> {
  return recordOf(await app.call(ROUTE, { body: { topic: 'news', title: 'Hello', ...body } }), 201);
}

function itemsOf(answer: RawAnswer): Notification[] {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { items: Notification[] }).items;
}

async function titles(from: InstalledTestApp | TestAccount, query = ''): Promise<string[]> {
  const answer = 'call' in from ? await from.call(ROUTE + query) : await from.fetch(`/v1/notifications${query}`);
  return itemsOf(answer).map(({ title }) => title);
}

test('a notification gets its defaults, and the shell shows it as it was answered', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const sent = await send(app, {});
  const { id, createdAt, ...rest } = sent;
  assert.match(id, /^ntf-[0-9a-f-]{36}$/);
  assert.equal(createdAt, new Date(now).toISOString());
  assert.deepEqual(rest, {
    appId: app.appId,
    topic: 'news',
    title: 'Hello',
    body: '',
    priority: 'normal',
    presentation: null,
    delivery: 'inbox-and-system',
    dedupeKey: null,
    expiresAt: null,
    readAt: null,
  });
  assert.deepEqual(itemsOf(await account.fetch('/v1/notifications')), [sent]);
});

test('a presentation is kept with its defaults, and its expiry becomes a time', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const action = { id: 'open', label: 'Open', type: 'open-app', target: '?note=1' };
  const sent = await send(app, { presentation: { mode: 'flash', expiresInSeconds: 60, actions: [action] } });
  assert.deepEqual(sent.presentation, {
    mode: 'flash',
    tone: 'neutral',
    layout: 'standard',
    expiresInSeconds: 60,
    actions: [{ ...action, style: 'secondary' }],
  });
  assert.equal(sent.expiresAt, new Date(now + 60_000).toISOString());
});

test('a topic outside the grant is refused, and nothing is stored', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('mail.*', 'alarm'));
  for (const topic of ['mail.new', 'alarm']) await send(app, { topic });
  for (const topic of ['mail', 'alarms', 'news']) {
    const answer = await app.call(ROUTE, { body: { topic, title: 'x' } });
    assert.deepEqual([answer.status, problemCode(answer)], [403, 'grant_missing'], topic);
    const { detail } = answer.json as { readonly detail: string };
    assert.ok(
      detail.includes(` may not send you notifications on the topic "${topic}" (notifications.publish). `),
      detail,
    );
    assert.match(detail, /does not request it: its author can add it to `permissions` in manifest\.json\.$/);
  }
  assert.equal((await titles(account)).length, 2);
});

test('the frontend of an app publishes and reads like its workload', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('news'), read('news'));
  const frontend = await app.openFrontend();
  recordOf(await frontend.call(ROUTE, { body: { topic: 'news', title: 'From the page' } }), 201);
  assert.deepEqual(
    itemsOf(await frontend.call(ROUTE)).map(({ title }) => title),
    ['From the page'],
  );
});

test('a repeated dedupe key answers with the stored record; another app has keys of its own', async () => {
  const account = await newAccount();
  const [one, two] = [await newApp(account, 'sender', publish('*')), await newApp(account, 'other', publish('*'))];
  const first = await send(one, { dedupeKey: 'k', title: 'First' });
  const again = await one.call(ROUTE, { body: { topic: 'other', title: 'Second', dedupeKey: 'k' } });
  assert.deepEqual(recordOf(again, 200), first);
  await send(two, { dedupeKey: 'k' });
  assert.equal((await titles(account)).length, 2);
});

test('of many at once with one dedupe key exactly one is stored and all get it', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const body = { topic: 'news', title: 'Once', dedupeKey: 'same' };
  const answers = await Promise.all(Array.from({ length: 24 }, () => app.call(ROUTE, { body })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(new Set(answers.map((answer) => recordOf(answer, answer.status).id)).size, 1);
  assert.deepEqual(await titles(account), ['Once']);
});

test('an app sees the records on topics of its grant from any sender; the shell sees all', async () => {
  const account = await newAccount();
  const sender = await newApp(account, 'sender', publish('*'));
  const reader = await newApp(account, 'reader', read('mail.*', 'alarm_1'));
  for (const topic of ['mail.new', 'mail_new', 'alarm_1', 'alarmx1', 'news'])
    await send(sender, { topic, title: topic });
  assert.deepEqual(await titles(reader), ['alarm_1', 'mail.new']);
  assert.deepEqual(await titles(reader, '?topic=news'), []);
  assert.equal((await titles(account)).length, 5);
  const refused = await sender.call(ROUTE);
  assert.deepEqual([refused.status, problemCode(refused)], [403, 'grant_missing']);
});

test('an account does not see the records of another', async () => {
  const [one, two] = [await newAccount(), await newAccount()];
  const sent = await send(await newApp(one, 'sender', publish('*')), {});
  const foreign = await newApp(two, 'reader', read('*'));
  assert.deepEqual(await titles(foreign), []);
  assert.deepEqual(await titles(two), []);
  for (const answer of [
    await two.fetch(`/v1/notifications/${sent.id}/read`, { method: 'POST' }),
    await foreign.call(`${ROUTE}/${sent.id}/read`, { method: 'POST' }),
  ])
    assert.deepEqual([answer.status, problemCode(answer)], [404, 'not_found']);
  assert.equal(itemsOf(await one.fetch('/v1/notifications'))[0]?.readAt, null);
});

test('a visible record is marked read once; one on another topic is not there', async () => {
  const account = await newAccount();
  const sender = await newApp(account, 'sender', publish('*'));
  const reader = await newApp(account, 'reader', read('mail.*'));
  const [mail, news] = [await send(sender, { topic: 'mail.a', title: 'Mail' }), await send(sender, { title: 'News' })];
  const first = recordOf(await reader.call(`${ROUTE}/${mail.id}/read`, { method: 'POST' }), 200);
  assert.equal(first.readAt, new Date(now).toISOString());
  now += 60_000;
  const second = recordOf(await account.fetch(`/v1/notifications/${mail.id}/read`, { method: 'POST' }), 200);
  assert.deepEqual(second, first, 'the first time counts');
  const hidden = await reader.call(`${ROUTE}/${news.id}/read`, { method: 'POST' });
  assert.deepEqual([hidden.status, problemCode(hidden)], [404, 'not_found']);
  assert.deepEqual(await titles(account, '?unread=true'), ['News']);
  assert.deepEqual(await titles(account, '?unread=true&topic=mail.a'), []);
});

test('read-all marks what the caller sees, and says how many were unread', async () => {
  const account = await newAccount();
  const sender = await newApp(account, 'sender', publish('*'));
  const reader = await newApp(account, 'reader', read('mail.*'));
  for (const topic of ['mail.a', 'mail.b', 'news']) await send(sender, { topic });
  const all = async (from: InstalledTestApp | TestAccount) =>
    'call' in from
      ? (await from.call(`${ROUTE}/read-all`, { method: 'POST' })).json
      : (await from.fetch('/v1/notifications/read-all', { method: 'POST' })).json;
  assert.deepEqual(await all(reader), { updated: 2 });
  assert.deepEqual(await all(reader), { updated: 0 });
  assert.deepEqual(await all(account), { updated: 1 });
});

test('a record stays when its presentation has ended: in lists, and to be marked read', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'), read('*'));
  const brief = await send(app, { title: 'Brief', presentation: { expiresInSeconds: 30 } });
  now += 30_000;
  assert.deepEqual([await titles(account), await titles(app)], [['Brief'], ['Brief']]);
  const answer = recordOf(await account.fetch(`/v1/notifications/${brief.id}/read`, { method: 'POST' }), 200);
  assert.deepEqual([answer.expiresAt, answer.readAt], [new Date(now).toISOString(), new Date(now).toISOString()]);
});

test('a body keeps tabs and line breaks, of which CRLF becomes LF, and ids of actions take every letter', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'));
  const actions = ['A', '-', '.x_', 'Open-Note.1'.padEnd(64, 'Z')]
    .slice(1)
    .map((id) => ({ id, label: id.slice(0, 40), type: 'open-app' }));
  const sent = await send(app, { body: 'One\r\n\ttwo\nthree', presentation: { actions } });
  assert.equal(sent.body, 'One\n\ttwo\nthree');
  assert.deepEqual(
    sent.presentation?.actions.map(({ id }) => id),
    actions.map(({ id }) => id),
  );
  assert.equal((await send(app, { body: '\r\n'.repeat(2_000) })).body.length, 2_000, 'counted as it is stored');
});

test('pages follow each other newest first without gap or repeat, also while more arrive', async () => {
  const account = await newAccount();
  const app = await newApp(account, 'sender', publish('*'), read('*'));
  for (let index = 0; index < 7; index += 1) await send(app, { title: `n${index}` });
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = `?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { json } = await account.fetch(`/v1/notifications${query}`);
    const page = json as { items: Notification[]; nextCursor: string | null };
    seen.push(...page.items.map(({ title }) => title));
    cursor = page.nextCursor;
    await send(app, { title: 'late' });
  } while (cursor !== null);
  assert.deepEqual(seen, ['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0']);
  const { json } = await account.fetch('/v1/notifications?limit=1');
  const own = (json as { nextCursor: string }).nextCursor;
  for (const path of [`/v1/notifications?limit=1&unread=true&cursor=${own}`, '/v1/notifications?cursor=x']) {
    const answer = await account.fetch(path);
    assert.deepEqual([answer.status, problemCode(answer)], [400, 'invalid_cursor'], path);
  }
  assert.equal(
    problemCode(await app.call(`${ROUTE}?limit=1&cursor=${own}`)),
    'invalid_cursor',
    'a cursor of the shell',
  );
});
