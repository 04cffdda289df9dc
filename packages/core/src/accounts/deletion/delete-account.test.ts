// A deleted account: everything of it is gone at once, here and on other replicas, and what lies elsewhere follows.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import type { Grant } from '@platform/contract';
import {
  newAuthenticator,
  registerAccount,
  signIn,
  type TestAccount,
  TestBrowser,
} from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../../tests/support/event-reader.ts';
import { moments } from '../../../../../tests/support/held-moments.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { until } from '../../../../../tests/support/wait.ts';
import { bearer, install, installationRow, nodeWorkload, publish } from '../../../test-support/apps.ts';
import { databaseText, tablesWith } from '../../../test-support/database-sweep.ts';
import { type NodeDouble, startNodeDouble } from '../../../test-support/node-double.ts';
import { workflowsOf } from '../../../test-support/workflows.ts';
import { packageFile } from '../../catalog/package-file.ts';
import { changing } from '../../database/changing.ts';
import { addRule } from '../../placement/placement-rules.ts';
import { createEnrolmentLink } from '../passkeys/enrolment-link.ts';
import { suspendAccount } from '../suspension/suspend-account.ts';
import { deleteAccount } from './delete-account.ts';

const NOTIFICATIONS = '/v1/services/notifications';
const MASTER = 'caretaker';
const GRANTS: Grant[] = [
  { id: 'notifications.publish', resources: ['*'] },
  { id: 'notifications.read', resources: ['*'] },
  { id: 'search.index', resources: ['self'] },
  { id: 'secrets.use', resources: ['github'] },
  { id: 'endpoints.public', resources: ['GET:/hook'] },
];
const MORE = {
  workload: { ...nodeWorkload, volume: true, resources: { diskMiB: 10 } },
  publicEndpoints: ['GET:/hook'],
  secretSlots: [{ name: 'github', origin: 'https://api.example.com', pathPrefix: '/', methods: ['GET'] }],
};

const held = moments();
let platform: Constellation;
let replica: TestCore;
let node: NodeDouble;
let neighbour: TestAccount;
let account: TestAccount;
let app: InstalledTestApp;
let count = 0;

before(async () => {
  const first = await startConstellation({ config: { masterAccount: MASTER }, at: held.at });
  replica = await first.replica();
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  node = await startNodeDouble(platform);
  neighbour = await registerAccount(platform, 'neighbour');
});
after(async () => {
  await platform.close();
  await node.close();
});
beforeEach(async () => {
  count += 1;
  account = await registerAccount(platform, `leaver-${count}`);
  app = await installTestApp(platform, account, `diary-${count}`, GRANTS, MORE);
});

const remove = (name = account.name) => deleteAccount(platform.core.context, { name });
const pool = () => platform.core.context.pool;

async function received(): Promise<void> {
  for (const { signals, pool: each } of [platform.core.context, replica.context]) await signals.settled(each);
}

/** Something in as many tables as an account comes to. */
async function live(): Promise<void> {
  const { context } = platform.core;
  const put = (path: string, body: object, method = 'PUT') => account.browser.take(path, { method, body });
  await app.openFrontend();
  const published = await app.call(NOTIFICATIONS, { body: { topic: 'news', title: 'Private words' } });
  assert.equal(published.status, 201, published.text);
  const entries = [{ id: 'a', title: 'Private words', url: '?a' }];
  const indexed = await app.call('/v1/services/search/index', { method: 'PUT', body: { entries } });
  assert.equal(indexed.status, 200, indexed.text);
  assert.equal((await workflowsOf(app).create({ input: { private: 'words' } })).status, 201);
  const leased = await app.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 300 } });
  assert.equal(leased.status, 201, leased.text);
  await put('/v1/account/notification-settings', { muted: [{ appId: app.appId, topic: null }] }, 'PATCH');
  await put('/v1/account/secrets/token', { value: 'canary' });
  const { items } = await account.browser.take<{ items: { declarationHash: string }[] }>(
    `/v1/apps/${app.appId}/secret-bindings`,
  );
  const declarationHash = items[0]?.declarationHash;
  await put(`/v1/apps/${app.appId}/secret-bindings/github`, { secret: 'token', declarationHash });
  await createEnrolmentLink(context, account.name);
  await addRule(context, 'platform-hosted', { account: account.name, appId: null });
}

test('leaves nothing of the account in the database but its name', async () => {
  await live();
  const { account_key: key } = await installationRow(platform, account, app.appId);
  const { rows } = await pool().query<{ id: string }>('SELECT id FROM installations WHERE account_key = $1', [key]);
  const marks = [key, 'Private words', ...rows.map(({ id }) => id)];
  const before = await databaseText(pool());
  for (const mark of marks) assert.ok(before.includes(mark), mark);
  const tables = await tablesWith(pool(), marks);
  assert.ok(tables.size >= 16, [...tables].join(' '));

  assert.equal(await remove(), account.name);
  await until('its volume was deleted', async () => (await abandoned([app.installationId])) === 0);
  // Both forget by themselves: Ingresses learn for a while that a public name is gone.
  assert.deepEqual([...(await tablesWith(pool(), marks))], ['rate_buckets', 'topology_routes']);
  assert.deepEqual([...(await tablesWith(pool(), [`"${account.name}"`]))], ['former_account_names']);
});

test('its session, its frontends and its backends are refused at once, also on another replica; its streams end', async () => {
  const frontend = await app.openFrontend();
  const there = { port: replica.port, origin: replica.context.config.origin };
  const { host } = new URL(platform.origin);
  const stream = await openEvents({
    port: platform.port,
    path: '/v1/events',
    headers: { host, cookie: account.cookie },
  });
  const doors: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
    session: () => account.fetch('/v1/apps'),
    frontend: () => frontend.call(NOTIFICATIONS),
    backend: () => app.call(NOTIFICATIONS),
    'backend, on the replica': () => bearer(there, app.credential, NOTIFICATIONS),
  };
  for (const [what, call] of Object.entries(doors)) assert.equal((await call()).status, 200, what);
  await remove();
  await received();
  for (const [what, call] of Object.entries(doors)) assert.equal((await call()).status, 401, what);
  await stream.ended;
  await assert.rejects(signIn(platform, account.authenticator));
  assert.equal((await neighbour.fetch('/v1/apps')).status, 200);
});

test('its name is never given again, also to a registration that waits for the deletion', async () => {
  const name = `early-${count}`;
  // From before the name was taken.
  const browser = new TestBrowser(platform);
  const options = await browser.begin('/v1/auth/register/options', { name });
  const credential = newAuthenticator(platform).create(options);
  await registerAccount(platform, name);
  const moment = held.hold('accounts.delete.committing');
  const deleting = remove(name);
  await moment.reached;
  const waiting = browser.fetch('/v1/auth/register/verify', { body: { challengeId: options.challengeId, credential } });
  await until('it waits', async () => {
    const { rows } = await pool().query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  moment.release();
  await deleting;
  assert.deepEqual([(await waiting).status, problemCode(await waiting)], [409, 'account_name_taken']);
  await assert.rejects(registerAccount(platform, name), /account_name_taken/);
});

test('volumes are deleted on their node as soon as it answers, those of removed apps too', async () => {
  const other = `other-${count}`;
  await publish(account, other, { workload: MORE.workload });
  await install(account, other);
  await account.fetch(`/v1/apps/${other}`, { method: 'DELETE' });
  const ids = [app.installationId, (await installationRow(platform, account, other)).id];
  const former = node.answer;
  let asked = 0;
  node.answer = (call) => {
    if (call.path.endsWith('/volume')) asked += 1;
    return { status: 503, body: { code: 'workload_unavailable', detail: 'Its app is being removed.' } };
  };
  try {
    await remove();
    await until('each was tried', () => asked >= 2);
    assert.equal(await abandoned(ids), 2);
  } finally {
    node.answer = former;
  }
  await until('they are gone', async () => (await abandoned(ids)) === 0);
  for (const id of ids) {
    const call = node.calls.findLast(({ path }) => path.endsWith(`${id}/volume`));
    assert.equal(call?.method, 'DELETE');
  }
});

async function abandoned(ids: readonly string[]): Promise<number> {
  const { rows } = await pool().query('SELECT FROM abandoned_volumes WHERE installation_id = ANY ($1)', [ids]);
  return rows.length;
}

test('an app it published stays for those who have it, is offered to nobody else, and goes with the last of them', async () => {
  const { context } = platform.core;
  const [shared, unused] = [`shared-${count}`, `unused-${count}`];
  const files = { [shared]: await publish(account, shared), [unused]: await publish(account, unused) };
  const newer = await publish(account, shared, { version: '2.0.0' });
  const fileOf = ({ hash }: { readonly hash: string }) => existsSync(packageFile(context, hash));
  await neighbour.browser.take('/v1/apps', { body: { appId: shared, version: '1.0.0' } });
  await remove();
  assert.equal((await neighbour.fetch(`/v1/apps/${shared}/launch`, { body: {} })).status, 200);
  assert.deepEqual(
    [fileOf(files[shared] ?? assert.fail()), fileOf(files[unused] ?? assert.fail()), fileOf(newer)],
    [true, false, false],
  );
  const stranger = await registerAccount(platform, `stranger-${count}`);
  const { items } = await stranger.browser.take<{ items: { appId: string }[] }>('/v1/catalog?limit=200');
  assert.ok(!items.some(({ appId }) => appId === shared));
  const refused = await stranger.fetch('/v1/apps', { body: { appId: shared } });
  assert.deepEqual([refused.status, problemCode(refused)], [404, 'not_found']);
  // Whoever could publish under its id would reach those who have it.
  await assert.rejects(publish(stranger, shared, { version: '3.0.0' }), /not_authorized/);
  await neighbour.fetch(`/v1/apps/${shared}`, { method: 'DELETE' });
  // The next deletion, or the hour, takes what nobody has any more.
  await remove(stranger.name);
  assert.equal(fileOf(files[shared] ?? assert.fail()), false);
});

test('the master account stays, and an unknown one is said; a suspended account goes like any other', async () => {
  await registerAccount(platform, MASTER);
  await assert.rejects(remove(MASTER), /is the master account/);
  await assert.rejects(remove('nobody-here'), /There is no account named nobody-here\./);
  await suspendAccount(platform.core.context, account.name);
  const results = await Promise.allSettled([remove(), remove()]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('a change that waits for the deletion while that waits for it delays it, and neither fails', async () => {
  const { installationId } = app;
  const client = await pool().connect();
  try {
    await client.query("SET deadlock_timeout = '10min'");
    await client.query('BEGIN');
    await client.query('SELECT FROM installations WHERE id = $1 FOR UPDATE', [installationId]);
    const removed = remove();
    const isWaiting = async () => {
      const { rows } = await pool().query('SELECT FROM pg_locks WHERE NOT granted');
      return rows.length > 0;
    };
    await until('the deletion to wait', isWaiting);
    // PostgreSQL ends the one that notices first, which is the deletion.
    await client.query(
      'SELECT FROM sessions WHERE account_key = (SELECT account_key FROM installations WHERE id = $1) FOR SHARE',
      [installationId],
    );
    await client.query('COMMIT');
    assert.equal(await removed, account.name);
  } finally {
    await client.query('RESET deadlock_timeout').catch(() => undefined);
    client.release();
  }
});

test('a change that PostgreSQL ended because it and another waited for each other begins anew, and has its effects once', async () => {
  const LOCK = 'SELECT FROM accounts WHERE name = $1 FOR UPDATE';
  const client = await pool().connect();
  let [attempts, effects] = [0, 0];
  const holds = new Set<string>();
  try {
    await client.query("SET deadlock_timeout = '10min'");
    await client.query('BEGIN');
    await client.query(LOCK, [account.name]);
    const changed = changing(platform.core.context, async (trx) => {
      attempts += 1;
      trx.afterCommit(async () => {
        effects += 1;
      });
      for (const name of [neighbour.name, account.name]) {
        await trx.selectFrom('accounts').select('name').where('name', '=', name).forUpdate().execute();
        holds.add(name);
      }
    });
    // Others may wait for something else meanwhile.
    await until(
      'the change to wait',
      async () => holds.size > 0 && (await pool().query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0,
    );
    await client.query(LOCK, [neighbour.name]);
    await client.query('COMMIT');
    await changed;
  } finally {
    await client.query('RESET deadlock_timeout').catch(() => undefined);
    client.release();
  }
  assert.deepEqual({ attempts: attempts > 1, effects }, { attempts: true, effects: 1 });
});
