// After any sequence of installing, granting, publishing, reading and muting, no route or stream shows an account a
// record of another, or an app one on a topic outside its grant; and everything they may see is shown.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Grant, Notification } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type EventReader, openEvents } from '../../../../tests/support/event-reader.ts';
import { fc } from '../../../../tests/support/fast-check.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../tests/support/thorough.ts';

const ROUTE = '/v1/services/notifications';
const TOPICS = ['a', 'a.b', 'a.bc', 'ab', 'b', 'b.a', 'a_b'] as const;
const PATTERNS = ['*', 'a', 'a*', 'a.*', 'a.b', 'b', 'b*', 'a_b'] as const;
const APPS = ['one', 'two'] as const;

interface Expected {
  readonly id: string;
  readonly owner: Owner;
  readonly topic: string;
  read: boolean;
}

interface Owner {
  readonly account: TestAccount;
  readonly apps: App[];
}

interface App {
  readonly owner: Owner;
  readonly appId: string;
  installed: InstalledTestApp;
  frontend: Awaited<ReturnType<InstalledTestApp['openFrontend']>>;
  publish: readonly string[];
  read: readonly string[];
}

/** A caller, and what it may see. */
interface Asker {
  readonly owner: Owner;
  /** `null` for everything: the shell. */
  readonly topics: readonly string[] | null;
  readonly path: string;
  call(path: string, settings?: { readonly method?: string; readonly body?: unknown }): Promise<RawAnswer>;
  listen(): Promise<EventReader>;
}

interface Listening {
  readonly asker: Asker;
  readonly stream: EventReader;
}

let world: Constellation;
let owners: Owner[];
const records: Expected[] = [];
before(async () => {
  world = await startConstellation();
  owners = [await newOwner('left'), await newOwner('right')];
});
after(() => world.close());

async function newOwner(name: string): Promise<Owner> {
  const owner: Owner = { account: await registerAccount(world, name), apps: [] };
  for (const appId of APPS) {
    const installed = await install(owner.account, appId);
    const frontend = await installed.openFrontend();
    owner.apps.push({ owner, appId, installed, frontend, publish: ['*'], read: ['*'] });
  }
  return owner;
}

function grantsOf(publish: readonly string[], read: readonly string[]): Grant[] {
  return [
    { id: 'notifications.publish', resources: [...publish] },
    { id: 'notifications.read', resources: [...read] },
  ];
}

function install(account: TestAccount, appId: string): Promise<InstalledTestApp> {
  return installTestApp(world, account, appId, grantsOf(['*'], ['*']));
}

/** The rule once more, written for the test alone. */
function covers(patterns: readonly string[] | null, topic: string): boolean {
  if (patterns === null) return true;
  return patterns.some((one) => (one.endsWith('*') ? topic.startsWith(one.slice(0, -1)) : one === topic));
}

function visibleTo(asker: Asker): Expected[] {
  return records.filter(({ owner, topic }) => owner === asker.owner && covers(asker.topics, topic));
}

function listenWith(path: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const host = new URL(world.origin).host;
  return openEvents({ port: world.port, path, headers: { host, ...headers } });
}

function shellOf(owner: Owner): Asker {
  return {
    owner,
    topics: null,
    path: '/v1/notifications',
    call: (path, settings) => owner.account.fetch(path, settings),
    listen: () => listenWith('/v1/events', { cookie: owner.account.cookie }),
  };
}

function askersOf(app: App): Asker[] {
  const { owner, installed, frontend } = app;
  const common = { owner, topics: app.read, path: ROUTE };
  const page = { authorization: `Bearer ${frontend.capability}`, origin: installed.origin };
  return [
    {
      ...common,
      call: installed.call,
      listen: () => listenWith(`${ROUTE}/stream`, { authorization: `Bearer ${installed.credential}` }),
    },
    { ...common, call: frontend.call, listen: () => listenWith(`${ROUTE}/stream`, page) },
  ];
}

/** All callers: two shells, and the workload and frontend of four apps. */
function askers(): Asker[] {
  return owners.flatMap((owner) => [shellOf(owner), ...owner.apps.flatMap(askersOf)]);
}

/** What the four apps may read at first. */
const beginning = fc.array(fc.uniqueArray(fc.constantFrom(...PATTERNS.slice(1)), { minLength: 1, maxLength: 2 }), {
  minLength: APPS.length * 2,
  maxLength: APPS.length * 2,
});
const index = fc.nat({ max: 1_000 });
const topic = fc.constantFrom(...TOPICS);
const patterns = fc.uniqueArray(fc.constantFrom(...PATTERNS), { maxLength: 3 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('publish' as const), app: index, topic, page: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('list' as const),
      asker: index,
      topic: fc.option(topic),
      unread: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), asker: index, record: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('read-all' as const), asker: index }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('listen' as const), asker: index }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('grant' as const), app: index, publish: patterns, read: patterns }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('install' as const), app: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('mute' as const), app: index, topic: fc.option(topic) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function pick<Item>(items: readonly Item[], at: number): Item {
  const item = items[at % items.length];
  assert.ok(item !== undefined);
  return item;
}

async function take(one: Step, listening: Listening[]): Promise<void> {
  const apps = owners.flatMap((owner) => owner.apps);
  switch (one.kind) {
    case 'publish':
      return publish(pick(apps, one.app), one.topic, one.page ? 'frontend' : 'installed');
    case 'list':
      return list(pick(askers(), one.asker), one.topic, one.unread);
    case 'read':
      return records.length === 0 ? undefined : markRead(pick(askers(), one.asker), pick(records, one.record));
    case 'read-all':
      return markAllRead(pick(askers(), one.asker));
    case 'listen': {
      const asker = pick(askers(), one.asker);
      const stream = await asker.listen();
      assert.equal(stream.status, asker.topics?.length === 0 ? 403 : 200);
      if (stream.status === 200) listening.push({ asker, stream });
      return undefined;
    }
    case 'grant':
      return grant(pick(apps, one.app), one.publish, one.read);
    case 'install':
      return reinstall(pick(apps, one.app));
    case 'mute':
      return mute(pick(apps, one.app), one.topic);
  }
}

async function publish(app: App, about: string, by: 'frontend' | 'installed'): Promise<void> {
  const answer = await app[by].call(ROUTE, { body: { topic: about, title: `${app.appId} about ${about}` } });
  if (!covers(app.publish, about)) return assert.equal(answer.status, 403, answer.text);
  assert.equal(answer.status, 201, answer.text);
  const { id } = (answer.json as { notification: Notification }).notification;
  records.push({ id, owner: app.owner, topic: about, read: false });
}

async function list(asker: Asker, about: string | null, unread: boolean): Promise<void> {
  const query = `?limit=200${about === null ? '' : `&topic=${about}`}${unread ? '&unread=true' : ''}`;
  const answer = await asker.call(asker.path + query);
  if (asker.topics?.length === 0) return assert.equal(answer.status, 403, answer.text);
  assert.equal(answer.status, 200, answer.text);
  const expected = visibleTo(asker).filter((one) => (about === null || one.topic === about) && !(unread && one.read));
  const items = (answer.json as { items: Notification[] }).items.map(({ id }) => id);
  const newest = expected.map(({ id }) => id).reverse();
  assert.deepEqual(items, newest.slice(0, 200));
}

async function markRead(asker: Asker, record: Expected): Promise<void> {
  const answer = await asker.call(`${asker.path}/${record.id}/read`, { method: 'POST' });
  if (asker.topics?.length === 0) return assert.equal(answer.status, 403, answer.text);
  const visible = visibleTo(asker).includes(record);
  assert.equal(answer.status, visible ? 200 : 404, answer.text);
  if (visible) record.read = true;
}

async function markAllRead(asker: Asker): Promise<void> {
  const answer = await asker.call(`${asker.path}/read-all`, { method: 'POST' });
  if (asker.topics?.length === 0) return assert.equal(answer.status, 403, answer.text);
  const unread = visibleTo(asker).filter(({ read }) => !read);
  assert.deepEqual(answer.json, { updated: unread.length });
  for (const one of unread) one.read = true;
}

async function grant(app: App, publishing: readonly string[], reading: readonly string[]): Promise<void> {
  const permissions = grantsOf(publishing, reading).filter(({ resources }) => resources.length > 0);
  const path = `/v1/apps/${app.appId}/permissions`;
  await app.owner.account.browser.take(path, { method: 'PUT', body: { permissions } });
  app.publish = publishing;
  app.read = reading;
}

async function reinstall(app: App): Promise<void> {
  await app.owner.account.browser.take(`/v1/apps/${app.appId}`, { method: 'DELETE' });
  // Its notifications stay in the inbox.
  app.installed = await install(app.owner.account, app.appId);
  app.frontend = await app.installed.openFrontend();
  [app.publish, app.read] = [['*'], ['*']];
}

async function mute(app: App, about: string | null): Promise<void> {
  const body = { muted: [{ appId: app.appId, topic: about }] };
  await app.owner.account.browser.take('/v1/account/notification-settings', { method: 'PATCH', body });
}

/** Everything that a stream delivered, records and ids of read ones, was for the caller that opened it. */
function assertOwn({ asker, stream }: Listening, known: ReadonlyMap<string, Expected>): void {
  for (const { event, data } of stream.events) {
    const { notification, ids } = data as { readonly notification?: Notification; readonly ids?: readonly string[] };
    if (asker.topics !== null) assert.ok(['notification', 'notifications-read'].includes(event), event);
    for (const id of notification === undefined ? (ids ?? []) : [notification.id]) {
      const record = known.get(id);
      assert.ok(record !== undefined, `${event} of a record that was never published`);
      assert.ok(record.owner === asker.owner, `${event} of another account`);
      assert.ok(covers(asker.topics, record.topic), `${event} on ${record.topic} for ${asker.topics}`);
    }
  }
}

test('no sequence of steps shows anybody what is not theirs', { timeout: 120_000 }, async () => {
  const known = new Map<string, Expected>();
  await fc.assert(
    fc.asyncProperty(beginning, fc.array(step, { minLength: 25, maxLength: 40 }), async (reading, steps) => {
      const listening: Listening[] = [];
      try {
        for (const [at, app] of owners.flatMap(({ apps }) => apps).entries())
          await grant(app, ['*'], pick(reading, at));
        for (const asker of askers()) listening.push({ asker, stream: await asker.listen() });
        for (const one of steps) {
          await take(one, listening);
          for (const record of records) known.set(record.id, record);
        }
        // When a stream delivers the last record, it has delivered all before it.
        for (const asker of askers()) await list(asker, null, false);
        for (const owner of owners) await untilReceived(owner, listening, known);
        for (const one of listening) assertOwn(one, known);
      } finally {
        for (const { stream } of listening) stream.close();
      }
    }),
    { numRuns: thorough(2, 20), endOnFailure: true },
  );
});

async function untilReceived(
  owner: Owner,
  listening: readonly Listening[],
  known: Map<string, Expected>,
): Promise<void> {
  const [app] = owner.apps;
  assert.ok(app !== undefined);
  await grant(app, ['*'], ['*']);
  for (const about of TOPICS) await publish(app, about, 'installed');
  const last = records.slice(-TOPICS.length);
  for (const record of last) known.set(record.id, record);
  for (const { asker, stream } of listening) {
    const final = last.findLast(({ topic }) => asker.owner === owner && covers(asker.topics, topic));
    if (final === undefined) continue;
    const received = stream.until(({ events }) => events.some(({ data }) => JSON.stringify(data).includes(final.id)));
    // A stream whose caller's grants were changed has ended, which is as good.
    await received.catch(() => stream.ended);
  }
}
