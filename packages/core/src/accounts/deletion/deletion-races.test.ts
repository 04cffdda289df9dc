// An account or an app ends while everything that it may write is being written: each request is answered in words, nobody
// meets a failure, what was reserved is given back, and nothing is left of what is gone.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Grant, WorkflowRun, WorkLease } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../../tests/support/constellation.ts';
import { type EventReader, openEvents } from '../../../../../tests/support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import type { RawAnswer } from '../../../../../tests/support/raw-http.ts';
import { thorough } from '../../../../../tests/support/thorough.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { installationRow } from '../../../test-support/apps.ts';
import { tablesWith } from '../../../test-support/database-sweep.ts';
import { providersFile } from '../../../test-support/intelligence.ts';
import { ALL, MESSAGING } from '../../../test-support/messaging.ts';
import {
  type Manager,
  managerOf,
  managerPackage,
  SCHEDULES,
  TRIGGERS,
  valid,
} from '../../../test-support/schedules.ts';
import { workflowsOf } from '../../../test-support/workflows.ts';
import type { FairPool } from '../../database/fair-pool.ts';
import { suspendAccount } from '../suspension/suspend-account.ts';
import { deleteAccount } from './delete-account.ts';

const ROUNDS = thorough(2, 12);
/** Of each kind of write, at the same time. */
const AT_ONCE = 2;
/** Answers of each writer before the end comes, so that all are at work. */
const BEFORE = 3;
const NOTIFICATIONS = '/v1/services/notifications';
const GRANTS: Grant[] = [
  { id: 'notifications.publish', resources: ['*'] },
  { id: 'notifications.read', resources: ['*'] },
  { id: 'search.index', resources: ['self'] },
  { id: 'secrets.use', resources: ['github'] },
  { id: 'intelligence.use', resources: ['models:small'] },
  ...ALL,
];
const SLOT = { name: 'github', origin: 'https://api.example.com', pathPrefix: '/', methods: ['GET'] };

const providers = providersFile({
  providers: [{ id: 'models', baseUrl: 'https://models.example/v1', dialect: 'openai', platformKeyFile: 'key' }],
  requestsPerMinute: 100_000,
  monthlyTokens: 1_000_000_000,
});

let world: Constellation;
let accounts = 0;

before(async () => {
  world = await startConstellation({
    config: { intelligenceFile: providers.file },
    systemPackages: [await managerPackage()],
  });
  // Waiting for each other is found out soon, so that a round has many chances.
  const pool = world.core.context.pool as FairPool;
  await pool.query(
    `ALTER DATABASE "${(await pool.query('SELECT current_database() AS name')).rows[0].name}" SET deadlock_timeout = '20ms'`,
  );
  pool.reconnect();
});
after(async () => {
  await world.close();
  providers.remove();
});

interface Scene {
  readonly account: TestAccount;
  /** A second window of the same person. */
  readonly window: TestAccount;
  readonly friend: TestAccount;
  readonly app: InstalledTestApp;
  readonly manager: Manager;
  readonly accountKey: string;
  readonly friendKey: string;
}

async function newScene(): Promise<Scene> {
  accounts += 1;
  const account = await registerAccount(world, `leaver-${accounts}`);
  const friend = await registerAccount(world, `friend-${accounts}`);
  await friend.fetch('/v1/apps', { body: { appId: 'schedules' } });
  const app = await installTestApp(world, account, `busy-${accounts}`, GRANTS, {
    workload: { runtime: 'node', entry: 'main.js', triggers: TRIGGERS },
    secretSlots: [SLOT],
  });
  await account.browser.take('/v1/account/secrets/token', { method: 'PUT', body: { value: 'canary' } });
  const manager = await managerOf(world, account);
  const keyOf = async (of: TestAccount) => (await installationRow(world, of, 'schedules')).account_key;
  return {
    account,
    window: await signIn(world, account.authenticator),
    friend,
    app,
    accountKey: await keyOf(account),
    friendKey: await keyOf(friend),
    manager,
  };
}

type Write = (count: number) => Promise<RawAnswer>;

/** All that is written for an account, by its person, by its app and by others. */
function writesOf({ account, window, friend, app, manager }: Scene): Readonly<Record<string, Write>> {
  const workflows = workflowsOf(app);
  const put = (path: string, body: object, method = 'PUT') => account.fetch(path, { method, body });
  const post = (path: string, body: object) => app.call(path, { body });
  const target = { appId: app.appId, trigger: 'daily' };
  return {
    'a notification': (n) => post(NOTIFICATIONS, { topic: 'news', title: `n${n}`, dedupeKey: `k${n % 3}` }),
    'notifications read': () => post(`${NOTIFICATIONS}/read-all`, {}),
    'all read, by the person': () => window.fetch('/v1/notifications/read-all', { body: {} }),
    'a search index': (n) =>
      app.call('/v1/services/search/index', {
        method: 'PUT',
        body: { entries: [0, 1, 2].map((i) => ({ id: `e${i}`, title: `Entry ${n}`, url: `?e${i}` })) },
      }),
    'a workflow': async (n) => {
      const created = await workflows.create({ idempotencyKey: `run-${n}`, input: { n } });
      if (created.status !== 201) return created;
      const { id } = (created.json as { run: WorkflowRun }).run;
      const claimed = await workflows.claim(id, 'step');
      if (claimed.status !== 200) return claimed;
      return n % 2 === 0 ? workflows.remove(id) : workflows.end(id, { status: 'completed' });
    },
    'a call of a model': async () => {
      const reservation = `res-${randomUUID()}`;
      const body = { provider: 'models', model: 'small', method: 'POST', path: 'chat/completions' };
      const begun = await post('/v1/gateway/intelligence/authorize', {
        reservation,
        ...body,
        bodyBytes: 300,
        outputLimit: 100,
      });
      if (begun.status !== 200) return begun;
      await post('/v1/gateway/intelligence/renew', { reservation });
      return post('/v1/gateway/intelligence/settle', { reservation, inputTokens: 1, outputTokens: 1, reached: true });
    },
    'a work lease': async () => {
      const leased = await post('/v1/services/runtime/work-leases', { durationSeconds: 60 });
      if (leased.status !== 201) return leased;
      return app.call(`/v1/services/runtime/work-leases/${(leased.json as { lease: WorkLease }).lease.id}`, {
        method: 'DELETE',
      });
    },
    'a schedule': async () => {
      const made = await manager.call(SCHEDULES, { body: { ...valid, target } });
      if (made.status !== 201) return made;
      const { id } = (made.json as { schedule: { id: string } }).schedule;
      await manager.call(`${SCHEDULES}/${id}/run`, { method: 'POST' });
      return manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
    },
    'a message': async (n) => {
      const opened = await post(`${MESSAGING}/conversations/direct`, { to: friend.name });
      if (opened.status >= 300) return opened;
      const { id } = (opened.json as { conversation: { id: string } }).conversation;
      return post(`${MESSAGING}/conversations/${id}/messages`, { transactionId: `t${n}`, message: { body: `m${n}` } });
    },
    'a contact': (n) =>
      n % 2 === 0
        ? account.fetch('/v1/account/contacts', { body: { address: friend.name } })
        : friend.fetch('/v1/account/contacts', { body: { address: account.name } }),
    'a launch': () => window.fetch(`/v1/apps/${app.appId}/launch`, { body: {} }),
    'a secret': (n) => put('/v1/account/secrets/token', { value: `canary-${n}` }),
    'a binding withdrawn': () => account.fetch(`/v1/apps/${app.appId}/secret-bindings/github`, { method: 'DELETE' }),
    'what is muted': (n) =>
      put(
        '/v1/account/notification-settings',
        { muted: n % 2 === 0 ? [] : [{ appId: app.appId, topic: null }] },
        'PATCH',
      ),
    permissions: (n) =>
      put(`/v1/apps/${app.appId}/permissions`, { permissions: n % 2 === 0 ? GRANTS : GRANTS.slice(1) }),
    'a start and a stop': (n) =>
      account.fetch(`/v1/apps/${app.appId}/${n % 2 === 0 ? 'stop' : 'start'}`, { method: 'POST' }),
    'a pause': (n) => window.fetch(`/v1/runtime/${n % 8 === 0 ? 'pause' : 'resume'}`, { body: {} }),
    'a capability': () => post('/v1/services/runtime/capability', {}),
  };
}

/** What may be answered with such a status while an account ends: nothing was promised, and nothing failed. */
const IN_WORDS = new Set(['runtime_paused', 'node_unreachable', 'unavailable', 'workload_unavailable', 'starting']);

/** What core logs of a request that could not go on because of another one. */
const MET_ANOTHER = 'a request met another one';

async function race(scene: Scene, end: () => Promise<unknown>): Promise<void> {
  const failures: string[] = [];
  const before = world.log.length;
  let ended = false;
  const working = Object.entries(writesOf(scene)).flatMap(([what, write]) =>
    Array.from({ length: AT_ONCE }, (_, one) => {
      const busy = Promise.withResolvers<void>();
      const work = async () => {
        for (let count = 0; count < BEFORE || !ended; count += 1) {
          const answer = await write(count * AT_ONCE + one);
          const { code = '', detail = '' } = (answer.json ?? {}) as { code?: string; detail?: string };
          const failed = answer.status >= 500 && !IN_WORDS.has(code);
          // Else the test itself is wrong, and writes nothing.
          const invalid = answer.status === 400 && !detail.includes('is not an installed app');
          if (failed || invalid) failures.push(`${what}: ${answer.status} ${code} ${detail}`);
          if (count + 1 === BEFORE) busy.resolve();
        }
      };
      const done = work().catch((error) => {
        failures.push(`${what}: ${error}`);
        busy.resolve();
      });
      return { busy: busy.promise, done };
    }),
  );
  await Promise.all(working.map(({ busy }) => busy));
  try {
    await end();
  } finally {
    ended = true;
    await Promise.all(working.map(({ done }) => done));
  }
  const logged = world.log.slice(before).filter(({ level, message }) => level === 'error' || message === MET_ANOTHER);
  const reasons = logged.map(({ message, fields }) => `${message}: ${String((fields as { err?: unknown }).err)}`);
  assert.deepEqual({ failures: [...new Set(failures)], reasons }, { failures: [], reasons: [] });
}

interface End {
  readonly end: (scene: Scene) => Promise<unknown>;
  /** Live streams that end with it. */
  readonly streams: readonly ('app' | 'window')[];
  /** What nothing in the database names any more, but for the tables that forget by themselves. */
  readonly gone?: (scene: Scene) => readonly string[];
}

const remove = (name: string) => deleteAccount(world.core.context, { name });

const ENDS: Readonly<Record<string, End>> = {
  'its account is deleted': {
    end: ({ account }) => remove(account.name),
    streams: ['app', 'window'],
    gone: ({ accountKey, app }) => [accountKey, app.installationId],
  },
  'the account that it writes to is deleted': {
    end: ({ friend }) => remove(friend.name),
    streams: [],
    gone: ({ friendKey }) => [friendKey],
  },
  'both accounts that write to each other are deleted at once': {
    end: ({ account, friend }) => Promise.all([remove(account.name), remove(friend.name)]),
    streams: ['app', 'window'],
    gone: ({ accountKey, app, friendKey }) => [accountKey, app.installationId, friendKey],
  },
  'it is removed': {
    end: ({ account, app }) => account.fetch(`/v1/apps/${app.appId}`, { method: 'DELETE' }),
    streams: ['app'],
  },
  'its data are deleted': {
    end: ({ account, app }) => account.fetch(`/v1/apps/${app.appId}/data`, { method: 'DELETE' }),
    streams: [],
  },
  'its account is suspended': {
    end: ({ account }) => suspendAccount(world.core.context, account.name),
    streams: ['app', 'window'],
  },
  'its person ends the other session': {
    end: ({ account, window }) => account.fetch(`/v1/auth/sessions/${window.sessionId}`, { method: 'DELETE' }),
    streams: ['window'],
  },
};

/** Tokens are forgotten in time, and Ingresses learn for a while that a public name is gone. */
const FORGETTING = ['rate_buckets', 'topology_routes'];
/** The other one keeps what both have; it goes with the second of the two. */
const OF_BOTH = ['conversations', 'conversation_messages'];

for (const [what, { end, streams, gone }] of Object.entries(ENDS)) {
  test(`while an app writes all that it may, ${what}: nobody meets a failure, and nothing goes on`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const scene = await newScene();
      const open = await streamsOf(scene);
      await race(scene, () => end(scene));
      for (const name of streams) await open[name].ended;
      for (const stream of Object.values(open)) stream.close();
      if (gone === undefined) continue;
      const words = gone(scene);
      await untilOnlyIn(words, [...FORGETTING, ...OF_BOTH]);
      for (const { name } of [scene.account, scene.friend]) await remove(name).catch(() => undefined);
      await untilOnlyIn(words, FORGETTING);
    }
  });
}

async function untilOnlyIn(words: readonly string[], tables: readonly string[]): Promise<void> {
  const { pool } = world.core.context;
  await until(`nothing but ${tables.join(', ')} to name what is gone`, async () =>
    [...(await tablesWith(pool, words))].every((name) => tables.includes(name)),
  );
}

async function streamsOf({ window, app }: Scene): Promise<Record<'app' | 'window', EventReader>> {
  const { host } = new URL(world.origin);
  const open = async (path: string, headers: Readonly<Record<string, string>>) => {
    const reader = await openEvents({ port: world.port, path, headers: { host, ...headers } });
    assert.equal(reader.status, 200);
    return reader;
  };
  return {
    app: await open(`${NOTIFICATIONS}/stream`, { authorization: `Bearer ${app.credential}` }),
    window: await open('/v1/events', { cookie: window.cookie }),
  };
}
