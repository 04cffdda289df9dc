// A suspended account: what opened it ends at once, here and on other replicas, and nothing opens it until it is resumed.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { assignments, type Grant } from '@platform/contract';
import { registerAccount, signIn, type TestAccount } from '../../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../../tests/support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../../../../../tests/support/installed-app.ts';
import { problemCode } from '../../../../../tests/support/raw-http.ts';
import { bearer } from '../../../test-support/apps.ts';
import { createEnrolmentLink } from '../passkeys/enrolment-link.ts';
import { listAccountStates, resumeSuspended, suspendAccount } from './suspend-account.ts';

const NOTIFICATIONS = '/v1/services/notifications';

let platform: Constellation;
let replica: TestCore;
let neighbour: TestAccount;
let other: InstalledTestApp;
let account: TestAccount;
let app: InstalledTestApp;
let accounts = 0;

const grants: Grant[] = [{ id: 'notifications.read', resources: ['*'] }];

before(async () => {
  const first = await startConstellation();
  replica = await first.replica();
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  neighbour = await registerAccount(platform, 'neighbour');
  other = await installTestApp(platform, neighbour, 'app-of-neighbour', grants);
});
after(() => platform.close());
beforeEach(async () => {
  accounts += 1;
  account = await registerAccount(platform, `culprit-${accounts}`);
  app = await installTestApp(platform, account, `app-of-culprit-${accounts}`, grants);
});

const suspend = () => suspendAccount(platform.core.context, account.name);
const resume = () => resumeSuspended(platform.core.context, account.name);

async function received(): Promise<void> {
  for (const { signals, pool } of [platform.core.context, replica.context]) await signals.settled(pool);
}

test('its session, its frontends and its backends are refused at once, also on another replica', async () => {
  const frontend = await app.openFrontend();
  const there = { port: replica.port, origin: replica.context.config.origin };
  const doors: Readonly<Record<string, () => Promise<{ readonly status: number }>>> = {
    session: () => account.fetch('/v1/apps'),
    frontend: () => frontend.call(NOTIFICATIONS),
    backend: () => app.call(NOTIFICATIONS),
    'backend, on the replica': () => bearer(there, app.credential, NOTIFICATIONS),
  };
  for (const [what, call] of Object.entries(doors)) assert.equal((await call()).status, 200, what);
  assert.equal(await suspend(), true);
  await received();
  for (const [what, call] of Object.entries(doors)) assert.equal((await call()).status, 401, what);
  assert.equal((await neighbour.fetch('/v1/apps')).status, 200);
  assert.equal((await other.call(NOTIFICATIONS)).status, 200);
});

test('its live streams end', async () => {
  const { host } = new URL(platform.origin);
  const open = (path: string, headers: Readonly<Record<string, string>>) =>
    openEvents({ port: platform.port, path, headers: { host, ...headers } });
  const streams = [
    await open('/v1/events', { cookie: account.cookie }),
    await open(`${NOTIFICATIONS}/stream`, { authorization: `Bearer ${app.credential}` }),
  ];
  await suspend();
  await Promise.all(streams.map(({ ended }) => ended));
});

test('its backends are to stop with the next revision, and its work leases end', async () => {
  const asNode = async (path: string) =>
    assignments.parse((await bearer(platform, replica.localNode.nodeCredential, path)).json);
  const desired = async () => {
    const { items } = await asNode('/v1/node/assignments');
    return items.find(({ appId }) => appId === app.appId)?.desired;
  };
  await app.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 300 } });
  const { revision } = await asNode('/v1/node/assignments');
  const waiting = asNode(`/v1/node/assignments?after=${revision}`);
  await suspend();
  assert.notEqual((await waiting).revision, revision);
  assert.equal(await desired(), 'stopped');
  // From an assignment of before, or by the operator.
  const start = await bearer(
    platform,
    replica.localNode.nodeCredential,
    `/v1/node/installations/${app.installationId}/starts`,
    {},
  );
  assert.deepEqual([start.status, problemCode(start)], [503, 'workload_unavailable'], start.text);
  const { rows } = await platform.core.context.pool.query('SELECT FROM work_leases WHERE installation_id = $1', [
    app.installationId,
  ]);
  assert.equal(rows.length, 0);
  await resume();
  assert.equal(await desired(), 'automatic');
});

test('nobody signs in, neither by passkey nor by a link for recovery, from before or new', async () => {
  const { context } = platform.core;
  await createEnrolmentLink(context, account.name);
  await suspend();
  await assert.rejects(signIn(platform, account.authenticator));
  assert.equal(await createEnrolmentLink(context, account.name), null);
  await resume();
  const { rows } = await context.pool.query(
    'SELECT FROM enrolment_links l JOIN accounts a ON a.key = l.account_key WHERE a.name = $1',
    [account.name],
  );
  assert.equal(rows.length, 0, 'the former link does not come back');
});

test('when it is resumed its owner signs in again; the former session stays ended, and its backends have access again', async () => {
  await suspend();
  assert.equal(await resume(), true);
  await received();
  assert.equal((await account.fetch('/v1/apps')).status, 401);
  const again = await signIn(platform, account.authenticator);
  assert.equal((await again.fetch('/v1/apps')).status, 200);
  assert.equal((await app.call(NOTIFICATIONS)).status, 200);
});

test('what is so already is no change, and an account that is not there is said', async () => {
  assert.equal(await resume(), false);
  assert.deepEqual((await Promise.all([suspend(), suspend()])).sort(), [false, true]);
  await assert.rejects(suspendAccount(platform.core.context, 'nobody-here'), /There is no account named nobody-here\./);
});

test('the list shows each account with its state', async () => {
  const state = async () => {
    const rows = await listAccountStates(platform.core.context);
    const { sessions, suspended_at } = rows.find(({ name }) => name === account.name) ?? assert.fail();
    return { sessions, suspended: suspended_at !== null };
  };
  assert.deepEqual(await state(), { sessions: 1, suspended: false });
  await suspend();
  assert.deepEqual(await state(), { sessions: 0, suspended: true });
});
