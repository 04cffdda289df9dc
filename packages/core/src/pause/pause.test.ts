// Pausing an account: nothing of it runs or is reachable until its owner resumes, on every replica, and no other account
// is affected.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { accountRuntime, assignments, type Grant } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { openEvents } from '../../../../tests/support/event-reader.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { bearer } from '../../test-support/apps.ts';

let platform: Constellation;
let replica: TestCore;
let account: TestAccount;
let neighbour: TestAccount;
let app: InstalledTestApp;
let other: InstalledTestApp;

before(async () => {
  const first = await startConstellation();
  replica = await first.replica();
  // The local node has one credential: that of the last start.
  platform = { ...first, core: { ...first.core, localNode: replica.localNode } };
  account = await registerAccount(platform, 'pauser');
  neighbour = await registerAccount(platform, 'neighbour');
  const grants: Grant[] = [{ id: 'notifications.read', resources: ['*'] }];
  app = await installTestApp(platform, account, 'app-of-pauser', grants);
  other = await installTestApp(platform, neighbour, 'app-of-neighbour', grants);
});
after(() => platform.close());
beforeEach(() => resume());

async function change(action: 'pause' | 'resume'): Promise<string | null> {
  return accountRuntime.parse(await account.browser.take(`/v1/runtime/${action}`, { body: {} })).pausedAt;
}
const pause = () => change('pause');
const resume = () => change('resume');

function assertPaused(answer: RawAnswer, what: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [503, 'runtime_paused'], `${what}: ${answer.text}`);
}

function asNode(path: string, body?: unknown): Promise<RawAnswer> {
  return bearer(platform, replica.localNode.nodeCredential, path, body);
}

async function assigned() {
  const { revision, items } = assignments.parse((await asNode('/v1/node/assignments')).json);
  const of = (one: InstalledTestApp) => {
    const { desired, paused } = items.find(({ appId }) => appId === one.appId) ?? assert.fail();
    return { desired, paused };
  };
  return { revision, app: of(app), other: of(other) };
}

test('every backend is to stop at once, with the next revision, and may start again after the end of the pause', async () => {
  const before = await assigned();
  assert.deepEqual(before.app, { desired: 'automatic', paused: false });
  const waiting = asNode(`/v1/node/assignments?after=${before.revision}`);
  assert.match(String(await pause()), /^\d{4}-.*Z$/);
  assert.notEqual(assignments.parse((await waiting).json).revision, before.revision);
  const during = await assigned();
  assert.deepEqual([during.app, during.other], [{ desired: 'stopped', paused: true }, before.other]);
  assert.equal(await resume(), null);
  assert.deepEqual((await assigned()).app, before.app);
});

test('what an app was given is refused with the answer of the pause, and works again afterwards', async () => {
  const frontend = await app.openFrontend();
  const list = '/v1/services/notifications';
  const doors: [string, () => Promise<RawAnswer>][] = [
    ['its backend', () => app.call(list)],
    ['its frontend', () => frontend.call(list)],
    ['without its grant', () => app.call('/v1/services/apps')],
    ['a work lease', () => app.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 15 } })],
  ];
  for (const [, call] of doors) assert.notEqual((await call()).status, 503);
  await pause();
  for (const [what, call] of doors) assertPaused(await call(), what);
  await resume();
  for (const [, call] of doors) assert.notEqual((await call()).status, 503);
});

test('another replica refuses it as well', async () => {
  const { port, context } = replica;
  const there = { port, origin: context.config.origin };
  const list = () => bearer(there, app.credential, '/v1/services/notifications');
  assert.equal((await list()).status, 200);
  await pause();
  await context.signals.settled(context.pool);
  assertPaused(await list(), 'the replica');
});

test('nothing can be opened or started, and what is stopped meanwhile stays stopped', async () => {
  await pause();
  assertPaused(await account.fetch(`/v1/apps/${app.appId}/launch`, { body: {} }), 'launch');
  assertPaused(await account.fetch('/v1/apps/launcher/launch', { body: {} }), 'launch of an app without a backend');
  assertPaused(await account.fetch(`/v1/apps/${app.appId}/start`, { body: {} }), 'start');
  assertPaused(
    await asNode(`/v1/node/installations/${app.installationId}/starts`, {}),
    'an assignment from before the pause',
  );
  await account.fetch(`/v1/apps/${app.appId}/stop`, { body: {} });
  await resume();
  assert.deepEqual((await assigned()).app, { desired: 'stopped', paused: false });
  // No Runtime listens here: the desired state is stored all the same.
  await account.fetch(`/v1/apps/${app.appId}/start`, { body: {} });
  assert.equal((await assigned()).app.desired, 'automatic');
});

test('work leases end with the pause', async () => {
  await app.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 300 } });
  await other.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 300 } });
  await pause();
  const endOf = async ({ installationId }: InstalledTestApp) =>
    ((await asNode(`/v1/node/installations/${installationId}/leases`)).json as { endInMilliseconds: number | null })
      .endInMilliseconds;
  assert.equal(await endOf(app), null);
  assert.ok(Number(await endOf(other)) > 0);
});

test('live streams of its apps end, and every page of the shell is notified', async () => {
  const host = new URL(platform.origin).host;
  const authorization = `Bearer ${app.credential}`;
  const open = (path: string, headers: Record<string, string>) =>
    openEvents({ port: platform.port, path, headers: { host, ...headers } });
  const shell = await open('/v1/events', { cookie: account.cookie });
  const ofApp = await open('/v1/services/notifications/stream', { authorization });
  await pause();
  await ofApp.ended;
  const runtimeEvents = () => shell.events.filter(({ event }) => event === 'runtime').length;
  await shell.until(() => runtimeEvents() === 1);
  await resume();
  await shell.until(() => runtimeEvents() === 2);
  shell.close();
});

test('pausing again keeps the time of the first, also of many at once', async () => {
  const first = await Promise.all(Array.from({ length: 6 }, () => pause()));
  assert.equal(new Set(first).size, 1);
  assert.equal(await pause(), first[0]);
  assert.deepEqual(await account.browser.take('/v1/runtime'), { pausedAt: first[0] });
  assert.deepEqual(await Promise.all([resume(), resume()]), [null, null]);
});

test('no other account is paused', async () => {
  await pause();
  assert.deepEqual(await neighbour.browser.take('/v1/runtime'), { pausedAt: null });
  assert.equal((await other.call('/v1/services/notifications')).status, 200);
  assert.equal((await neighbour.fetch('/v1/apps/launcher/launch', { body: {} })).status, 200);
});

test('the session itself goes on: lists, permissions and the shell work while everything is paused', async () => {
  await pause();
  for (const path of ['/v1/apps', '/v1/notifications', `/v1/apps/${app.appId}/permissions`, '/v1/search?q=app'])
    assert.equal((await account.fetch(path)).status, 200, path);
});
