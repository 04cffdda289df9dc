// Schedules as the app that manages them uses them, what is refused, and that no other app may call.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits, type Schedule } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { requestAsBefore } from '../../../../tests/support/published-before.ts';
import { problemCode, type RawAnswer } from '../../../../tests/support/raw-http.ts';
import { nodeWorkload, publish } from '../../test-support/apps.ts';
import {
  installJobs,
  JOBS,
  type Manager,
  managerOf,
  managerPackage,
  SCHEDULES,
  valid,
} from '../../test-support/schedules.ts';

const NOW = '2026-11-21T10:00:00.000Z';

let world: Constellation;
let account: TestAccount;
let manager: Manager;
let jobs: InstalledTestApp;

before(async () => {
  world = await startConstellation({ clock: () => new Date(NOW), systemPackages: [await managerPackage()] });
  account = await registerAccount(world, 'planner');
  jobs = await installJobs(world, account);
  manager = await managerOf(world, account);
});
after(() => world.close());

function assertRefused(answer: RawAnswer, status: number, code: string, path?: string): void {
  assert.deepEqual([answer.status, problemCode(answer)], [status, code], answer.text);
  if (path === undefined) return;
  const { errors = [] } = answer.json as { errors?: { path: string }[] };
  assert.deepEqual([...new Set(errors.map((one) => one.path))], [path], answer.text);
}

const post = (more: object) => manager.call(SCHEDULES, { body: { ...valid, ...more } });

test('a schedule is added, listed, read, changed, paused and deleted, by the workload and the frontend', async () => {
  const { id, ...rest } = await manager.create({ payload: { report: 'full', __proto__: null } });
  assert.match(id, /^sch-/);
  assert.deepEqual(rest, {
    ...valid,
    payload: { report: 'full' },
    enabled: true,
    misfire: 'once',
    nextRunAt: '2026-11-22T07:00:00.000Z',
    lastRun: null,
  });
  const list = await manager.callFrontend(SCHEDULES);
  assert.deepEqual(list.json, { items: [{ id, ...rest }], nextCursor: null });
  const moved = await manager.change(id, { timeZone: 'America/New_York', misfire: 'skip', payload: null });
  const { payload: _removed, ...without } = rest;
  assert.deepEqual(moved, {
    id,
    ...without,
    timeZone: 'America/New_York',
    misfire: 'skip',
    nextRunAt: '2026-11-21T13:00:00.000Z',
  });
  assert.equal((await manager.change(id, { enabled: false })).nextRunAt, null);
  const resumed = await manager.callFrontend(`${SCHEDULES}/${id}`, { method: 'PATCH', body: { enabled: true } });
  assert.deepEqual((resumed.json as { schedule: Schedule }).schedule, moved);
  assert.equal((await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' })).status, 204);
  for (const method of ['GET', 'DELETE'])
    assertRefused(await manager.call(`${SCHEDULES}/${id}`, { method }), 404, 'not_found');
  assertRefused(await manager.call(`${SCHEDULES}/${id}/run`, { method: 'POST' }), 404, 'not_found');
});

test('a payload comes back as it came, with `__proto__` and deep values', async () => {
  const payload = '{"__proto__":{"a":1},"list":[1.5,null,"ä"],"nested":{"deep":{"er":true}}}';
  const body = JSON.stringify(valid).replace('{', `{"payload":${payload},`);
  const answer = await manager.call(SCHEDULES, { body });
  assert.equal(answer.status, 201, answer.text);
  assert.ok(answer.text.includes(payload), answer.text);
  const { id } = (answer.json as { schedule: Schedule }).schedule;
  await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
});

test('a preview gives the next five times, and the targets are the apps that declare triggers', async () => {
  const preview = await manager.callFrontend(`${SCHEDULES}/preview?cron=30+2+*+*+*&timeZone=Europe/Berlin`);
  const { times } = preview.json as { times: string[] };
  assert.equal(times.length, 5);
  assert.equal(times[0], '2026-11-22T01:30:00.000Z');
  await installTestApp(world, account, 'no-triggers', []);
  const targets = await manager.callFrontend(`${SCHEDULES}/targets`);
  assert.deepEqual(targets.json, {
    items: [{ appId: JOBS, name: JOBS, triggers: ['daily', 'hang'] }],
    nextCursor: null,
  });
});

const invalid: readonly (readonly [string, object, string])[] = [
  ['a cron line without any future time', { cron: '0 0 30 2 *' }, 'cron'],
  ['six fields', { cron: '0 0 8 * * *' }, 'cron'],
  ['four fields', { cron: '0 8 * *' }, 'cron'],
  ['a nickname', { cron: '@daily' }, 'cron'],
  ['a minute that is none', { cron: '60 * * * *' }, 'cron'],
  ['an unknown zone', { timeZone: 'Europe/Atlantis' }, 'timeZone'],
  ['an offset as a zone', { timeZone: '+02:00' }, 'timeZone'],
  ['an app that is not installed', { target: { appId: 'nobody-has-it', trigger: 'daily' } }, 'target.appId'],
  ['a trigger that is not declared', { target: { appId: JOBS, trigger: 'weekly' } }, 'target.trigger'],
  ['a payload that is a list', { payload: [] }, 'payload'],
  ['another misfire policy', { misfire: 'twice' }, 'misfire'],
  ['an empty name', { name: ' ' }, 'name'],
  ['a name that hides', { name: 'a\u202eb' }, 'name'],
  ['an unknown member', { color: 'red' }, ''],
];
for (const [what, more, member] of invalid)
  test(`${what} is refused, when it is added and when it is changed`, async () => {
    assertRefused(await post(more), 400, 'invalid_request', member);
    const { id } = await manager.create();
    const answer = await manager.call(`${SCHEDULES}/${id}`, { method: 'PATCH', body: more });
    assertRefused(answer, 400, 'invalid_request', member);
    const { id: _id, ...rest } = await manager.read(id);
    assert.equal(rest.cron, valid.cron);
    await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
  });

test('a payload may have 4 KiB of compact JSON, and not a byte more', async () => {
  const ofBytes = (bytes: number) => ({ payload: { text: 'x'.repeat(bytes - '{"text":""}'.length) } });
  const { id } = await manager.create(ofBytes(limits.schedulePayload.value));
  assertRefused(await post(ofBytes(limits.schedulePayload.value + 1)), 413, 'payload_too_large');
  const wide = { payload: { text: 'ä'.repeat(2_048) } };
  assertRefused(await post(wide), 413, 'payload_too_large');
  await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
});

test('a change must change something', async () => {
  const { id } = await manager.create();
  assertRefused(await manager.call(`${SCHEDULES}/${id}`, { method: 'PATCH', body: {} }), 400, 'invalid_request');
  await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
});

test('an account has at most 100 schedules, also when many are added at once, and another has its own', async () => {
  const other = await registerAccount(world, 'hoarder');
  await installJobs(world, other);
  const theirs = await managerOf(world, other);
  const most = limits.schedules.value;
  for (let count = 0; count < most - 10; count += 10)
    await Promise.all(Array.from({ length: 10 }, () => theirs.create()));
  const answers: RawAnswer[] = [];
  // Four bodies of one installation at a time.
  for (let count = 0; count < 16; count += 4)
    answers.push(...(await Promise.all(Array.from({ length: 4 }, () => theirs.call(SCHEDULES, { body: valid })))));
  assert.equal(answers.filter(({ status }) => status === 201).length, 10);
  assertRefused(answers.find(({ status }) => status !== 201) ?? assert.fail(), 429, 'schedule_limit');
  const { items, nextCursor } = (await theirs.call(`${SCHEDULES}?limit=60`)).json as {
    items: Schedule[];
    nextCursor: string;
  };
  const rest = (await theirs.call(`${SCHEDULES}?limit=60&cursor=${nextCursor}`)).json as { items: Schedule[] };
  assert.equal(new Set([...items, ...rest.items].map(({ id }) => id)).size, most);
  assert.deepEqual((await manager.call(SCHEDULES)).json, { items: [], nextCursor: null });
  const [theirFirst] = items;
  assertRefused(await manager.call(`${SCHEDULES}/${theirFirst?.id}`), 404, 'not_found');
});

test('no other app may, whatever it was granted and whatever it calls itself', async () => {
  const grants = [{ id: 'schedules.manage' as const, resources: ['*'] }];
  await publish(account, 'impostor', { workload: nodeWorkload });
  await requestAsBefore(world, 'impostor', grants);
  const app = await installTestApp(world, account, 'impostor', grants);
  const frontend = await app.openFrontend();
  const { id } = await manager.create();
  for (const call of [app.call, frontend.call]) {
    for (const target of ['', '/targets', '/preview?cron=0+8+*+*+*&timeZone=UTC', `/${id}`])
      assertRefused(await call(`${SCHEDULES}${target}`), 403, 'not_authorized');
    assertRefused(await call(SCHEDULES, { body: valid }), 403, 'not_authorized');
    assertRefused(await call(`${SCHEDULES}/${id}`, { method: 'DELETE' }), 403, 'not_authorized');
    assertRefused(await call(`${SCHEDULES}/${id}/run`, { method: 'POST' }), 403, 'not_authorized');
  }
  assertRefused(await jobs.call(SCHEDULES), 403, 'grant_missing');
  assertRefused(await account.fetch(SCHEDULES), 403, 'not_authorized');
  await manager.call(`${SCHEDULES}/${id}`, { method: 'DELETE' });
});

test('an account that takes the grant from the app that manages its schedules is obeyed', async () => {
  const owner = await registerAccount(world, 'doubter');
  const theirs = await managerOf(world, owner);
  assert.equal((await theirs.call(SCHEDULES)).status, 200);
  await owner.browser.take('/v1/apps/schedules/permissions', { method: 'PUT', body: { permissions: [] } });
  assertRefused(await theirs.call(SCHEDULES), 403, 'grant_missing');
});
