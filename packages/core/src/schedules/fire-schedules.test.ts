// Schedules fire: when they are due, once however many replicas look, again until a backend takes them, and not while
// their account is paused. The clock is the test's; the node is a double that plays the backends.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { type ScheduleFiring, scheduleFiring } from '@platform/contract';
import { registerAccount, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation } from '../../../../tests/support/constellation.ts';
import { until } from '../../../../tests/support/wait.ts';
import { installationRow } from '../../test-support/apps.ts';
import {
  type ControlAnswer,
  type NodeDouble,
  startNodeDouble,
  type WholeCall,
} from '../../test-support/node-double.ts';
import { installJobs, JOBS, type Manager, managerOf, managerPackage, SCHEDULES } from '../../test-support/schedules.ts';
import { notify } from '../database/notify.ts';

const START = '2026-11-21T10:00:00.000Z';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let world: Constellation;
let pools: readonly Constellation['core']['context']['pool'][];
let node: NodeDouble;
let account: TestAccount;
let manager: Manager;
let now: number;
let accounts = 0;

before(async () => {
  now = Date.parse(START);
  const first = await startConstellation({
    clock: () => new Date(now),
    systemPackages: [await managerPackage()],
    schedules: { firstRetryMilliseconds: 5_000, attemptMilliseconds: 1_500, takeoverMilliseconds: 60_000 },
  });
  const replica = await first.replica();
  // The local node has one credential: that of the last start.
  world = { ...first, core: { ...first.core, localNode: replica.localNode } };
  pools = [first.core.context.pool, replica.context.pool];
  node = await startNodeDouble(world);
});
after(async () => {
  await world.close();
  await node.close();
});

beforeEach(async () => {
  now = Date.parse(START);
  node.answer = answering(200);
  ({ account, manager } = await newAccount());
});
afterEach(async () => {
  // What one test leaves is no business of the next.
  await world.core.context.pool.query('DELETE FROM account_schedules');
});

async function newAccount(): Promise<{ account: TestAccount; manager: Manager }> {
  accounts += 1;
  const one = await registerAccount(world, `scheduler-${accounts}`);
  await installJobs(world, one);
  return { account: one, manager: await managerOf(world, one) };
}

interface Delivery {
  readonly path: string;
  readonly key: string;
  readonly trigger: string;
  readonly installation: string;
  readonly firing: ScheduleFiring;
}

const CALL = /\/installations\/([^/]+)\/call(\/.*)$/;

const deliveryOf = (call: WholeCall): Delivery[] => {
  const [, installation = '', path = ''] = CALL.exec(call.path) ?? [];
  if (path === '') return [];
  const { 'idempotency-key': key, 'platform-trigger': trigger } = call.headers;
  return [
    {
      path,
      installation,
      key: String(key),
      trigger: String(trigger),
      firing: scheduleFiring.parse(JSON.parse(call.body)),
    },
  ];
};

/** What the backends of this app saw of one schedule. */
function seen(id: string): Delivery[] {
  return node.wholeCalls.flatMap(deliveryOf).filter(({ firing }) => firing.scheduleId === id);
}

const workload = { 'platform-answered-by': 'workload' };
const answering =
  (status: number) =>
  (call: WholeCall): ControlAnswer =>
    CALL.test(call.path) ? { status, headers: workload, body: '' } : { status: 204, body: '' };

/** Has every replica look, as it does by itself within 15 s. */
const look = () => notify(world.core.context.database, 'schedules-changed', {});

/** Waits until no replica is about to ask the database with a time that it read before. */
const rest = () =>
  until('the replicas to rest', async () => {
    for (let turns = 0; turns < 3; turns += 1) {
      if (pools.some((pool) => pool.idleCount < pool.totalCount)) return false;
      await turn();
    }
    return true;
  });

/** Sets the clock, and waits until nothing is due any more. */
async function at(time: string | number): Promise<void> {
  await rest();
  now = typeof time === 'number' ? time : Date.parse(time);
  await look();
  await until('nothing to be due', async () => {
    const { rows } = await world.core.context.pool.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM account_schedules s JOIN accounts a ON a.key = s.account_key
                       WHERE s.enabled AND s.next_run_at <= $1 AND a.paused_at IS NULL)
           OR EXISTS (SELECT FROM schedule_runs r JOIN accounts a ON a.key = r.account_key
                       WHERE (r.due_at <= $1 OR r.leased_until IS NOT NULL) AND a.paused_at IS NULL) AS waits`,
      [new Date(now)],
    );
    return rows[0]?.waits === false;
  });
}

const scheduledFor = (deliveries: readonly Delivery[]) => deliveries.map(({ firing }) => firing.scheduledFor);

test('a schedule that is due calls its trigger, once for two replicas, with what the contract says', async () => {
  const { id } = await manager.create({ payload: { report: 'full' } });
  await at('2026-11-22T06:59:59.000Z');
  assert.deepEqual(seen(id), []);
  await at('2026-11-22T07:00:01.000Z');
  const [one, ...more] = seen(id);
  assert.deepEqual(more, []);
  assert.deepEqual(one, {
    path: '/jobs/daily',
    installation: (await installationRow(world, account, JOBS)).id,
    key: one?.key,
    trigger: 'schedule',
    firing: {
      scheduleId: id,
      name: 'Morning report',
      firedAt: '2026-11-22T07:00:01.000Z',
      scheduledFor: '2026-11-22T07:00:00.000Z',
      payload: { report: 'full' },
    },
  });
  assert.match(one?.key ?? '', /^run-/);
  const { nextRunAt, lastRun } = await manager.read(id);
  assert.equal(nextRunAt, '2026-11-23T07:00:00.000Z');
  assert.deepEqual(lastRun, { at: '2026-11-22T07:00:01.000Z', outcome: 'delivered' });
  await at('2026-11-23T07:00:00.000Z');
  const keys = seen(id).map(({ key }) => key);
  assert.equal(new Set(keys).size, 2, 'each run has its own key');
});

test('what a backend does not take is tried again with the same key, less and less often, for an hour', async () => {
  const { id } = await manager.create();
  node.answer = answering(500);
  await at('2026-11-22T07:00:00.000Z');
  assert.equal(seen(id).length, 1);
  const { lastRun } = await manager.read(id);
  assert.equal(lastRun?.outcome, 'failed');
  assert.match(lastRun?.detail ?? '', /^The backend answered 500\. Retrying for up to an hour \(1 attempt so far\)\.$/);
  await at(now + 1_000);
  assert.equal(seen(id).length, 1, 'not at once');
  for (let minute = 1; minute <= 60; minute += 1) await at(Date.parse('2026-11-22T07:00:00Z') + minute * MINUTE);
  const attempts = seen(id);
  assert.ok(attempts.length >= 9 && attempts.length <= 16, `${attempts.length} attempts`);
  assert.equal(new Set(attempts.map(({ key }) => key)).size, 1);
  const failed = await manager.read(id);
  assert.equal(failed.lastRun?.outcome, 'failed');
  assert.equal(failed.lastRun?.detail, `The backend answered 500. Gave up after ${attempts.length} attempts.`);
  await at(now + 10 * MINUTE);
  assert.equal(seen(id).length, attempts.length, 'no more');
});

test('a run that failed is delivered when the backend is well again', async () => {
  const { id } = await manager.create();
  node.answer = answering(503);
  await at('2026-11-22T07:00:00.000Z');
  node.answer = answering(204);
  await at(now + MINUTE);
  assert.deepEqual(scheduledFor(seen(id)), ['2026-11-22T07:00:00.000Z', '2026-11-22T07:00:00.000Z']);
  assert.deepEqual((await manager.read(id)).lastRun, { at: '2026-11-22T07:01:00.000Z', outcome: 'delivered' });
});

test('a schedule whose zone the platform no longer knows is paused, and holds up no other', async () => {
  const [lost, other] = [await manager.create(), await manager.create()];
  await world.core.context.pool.query("UPDATE account_schedules SET time_zone = 'Europe/Atlantis' WHERE id = $1", [
    lost.id,
  ]);
  await at('2026-11-22T07:00:00.000Z');
  assert.equal(seen(other.id).length, 1);
  assert.deepEqual(seen(lost.id), []);
  const { enabled, nextRunAt, lastRun } = await manager.read(lost.id);
  assert.deepEqual([enabled, nextRunAt, lastRun?.outcome], [false, null, 'failed']);
  assert.match(lastRun?.detail ?? '', /no longer knows its time zone and paused it/);
});

test('a redirect is no delivery, and nobody follows it', async () => {
  const { id } = await manager.create();
  node.answer = (call) => ({ ...answering(302)(call), headers: { ...workload, location: 'http://127.0.0.1:1/' } });
  await at('2026-11-22T07:00:00.000Z');
  assert.match((await manager.read(id)).lastRun?.detail ?? '', /answered 302/);
});

test('a backend that hangs is cut off, and one that answers without end is delivered and cut off', async () => {
  const [hangs, drips] = [await manager.create({ name: 'hangs' }), await manager.create({ name: 'drips' })];
  const endless = node.stream();
  node.answer = (call) => {
    if (!CALL.test(call.path)) return { status: 204, body: '' };
    if (call.body.includes('"hangs"')) return { body: () => undefined };
    return { ...endless.answer, headers: workload };
  };
  const line = 'x'.repeat(16_384);
  const writing = (async () => {
    await until('the answer to begin', () => endless.isOpen());
    for (let count = 0; count < 8; count += 1) endless.write(line);
  })();
  await at('2026-11-22T07:00:00.000Z');
  await writing;
  await endless.left;
  assert.equal((await manager.read(drips.id)).lastRun?.outcome, 'delivered');
  assert.match((await manager.read(hangs.id)).lastRun?.detail ?? '', /did not answer in time/);
});

test('backends that hang occupy the share of their own account alone', async () => {
  const victim = await newAccount();
  for (let count = 0; count < 40; count += 4)
    await Promise.all(Array.from({ length: 4 }, () => manager.create({ target: { appId: JOBS, trigger: 'hang' } })));
  const { id } = await victim.manager.create();
  let open = 0;
  let most = 0;
  node.answer = (call) => {
    if (!call.path.endsWith('/jobs/hang')) return answering(200)(call);
    open += 1;
    most = Math.max(most, open);
    return { body: (response: ServerResponse) => response.on('close', () => (open -= 1)) };
  };
  await rest();
  now = Date.parse('2026-11-22T07:00:00.000Z');
  await look();
  await until('the other account to be served', () => seen(id).length === 1);
  await until('the hanging ones to end', () => open === 0 && most > 0);
  // Two replicas that claim at the same moment may each take the share.
  assert.ok(most <= 16, `${most} at the same time`);
});

test('runs that were missed are made up once, or skipped, as the schedule says', async () => {
  const once = await manager.create({ cron: '0 8 * * *' });
  const skip = await manager.create({ cron: '0 8 * * *', misfire: 'skip' });
  const often = await manager.create({ cron: '* * * * *' });
  await at('2026-11-25T12:00:40.000Z');
  assert.deepEqual(scheduledFor(seen(once.id)), ['2026-11-25T07:00:00.000Z'], 'for the newest of four');
  assert.deepEqual(seen(skip.id), []);
  assert.deepEqual(scheduledFor(seen(often.id)), ['2026-11-25T12:00:00.000Z']);
  assert.deepEqual((await manager.read(skip.id)).lastRun, {
    at: '2026-11-25T12:00:40.000Z',
    outcome: 'skipped',
    detail: 'Missed while the platform was not running or the account was paused.',
  });
  for (const { id } of [once, skip]) assert.equal((await manager.read(id)).nextRunAt, '2026-11-26T07:00:00.000Z');
  await at('2026-11-26T07:00:10.000Z');
  assert.deepEqual(scheduledFor(seen(skip.id)), ['2026-11-26T07:00:00.000Z'], 'on time again');
});

test('nothing of a paused account fires, and afterwards what was missed is as the schedule says', async () => {
  const once = await manager.create();
  const skip = await manager.create({ misfire: 'skip' });
  const retried = await manager.create({ cron: '0 7 * * *', name: 'retried' });
  node.answer = answering(500);
  await at('2026-11-22T06:00:00.000Z');
  assert.equal(seen(retried.id).length, 1);
  node.answer = answering(200);
  await account.browser.take('/v1/runtime/pause', { body: {} });
  for (let day = 22; day < 25; day += 1) await at(`2026-11-${day}T09:00:00.000Z`);
  assert.deepEqual([seen(once.id), seen(skip.id), seen(retried.id).slice(1)], [[], [], []]);
  await account.browser.take('/v1/runtime/resume', { body: {} });
  await at(now + 1_000);
  assert.deepEqual(scheduledFor(seen(once.id)), ['2026-11-24T07:00:00.000Z']);
  assert.deepEqual(seen(skip.id), []);
  const times = scheduledFor(seen(retried.id).slice(1)).sort();
  assert.deepEqual(times, ['2026-11-22T06:00:00.000Z', '2026-11-24T06:00:00.000Z']);
});

test('an app that was removed, a trigger that is gone, and a backend that was stopped are failures in plain words', async () => {
  const { id } = await manager.create();
  const detailOf = async () => (await manager.read(id)).lastRun;
  // The node does not say how its backend is; that it is to be stopped is stored all the same.
  await account.fetch(`/v1/apps/${JOBS}/stop`, { body: {} });
  await at('2026-11-22T07:00:00.000Z');
  assert.match((await detailOf())?.detail ?? '', /^The backend of this app was stopped\..*Retrying/);
  await account.fetch(`/v1/apps/${JOBS}`, { method: 'DELETE' });
  await at(now + MINUTE);
  assert.deepEqual(await detailOf(), {
    at: '2026-11-22T07:01:00.000Z',
    outcome: 'failed',
    detail: `The app ${JOBS} is not installed any more.`,
  });
  await account.browser.take('/v1/apps', { body: { appId: JOBS } });
  await world.core.context.pool.query("UPDATE account_schedules SET trigger_name = 'gone' WHERE id = $1", [id]);
  await at('2026-11-23T07:00:00.000Z');
  assert.equal((await detailOf())?.detail, `${JOBS} no longer has the trigger “gone”.`);
  assert.deepEqual(seen(id), []);
});

test('an app that is removed while its run is under way gets no other attempt', async () => {
  const { id } = await manager.create();
  let cut: (() => void) | undefined;
  node.answer = (call) =>
    CALL.test(call.path)
      ? { body: (response: ServerResponse) => (cut = () => void response.destroy()) }
      : { status: 204, body: '' };
  await rest();
  now = Date.parse('2026-11-22T07:00:00.000Z');
  await look();
  await until('the run to be under way', () => cut !== undefined);
  await account.fetch(`/v1/apps/${JOBS}`, { method: 'DELETE' });
  node.answer = answering(200);
  // As a node does that stops a backend.
  cut?.();
  await at(now);
  assert.match((await manager.read(id)).lastRun?.detail ?? '', /Retrying/);
  await at(now + MINUTE);
  assert.equal((await manager.read(id)).lastRun?.detail, `The app ${JOBS} is not installed any more.`);
  assert.equal(seen(id).length, 1);
});

test('a schedule runs when a person wants it, also while it is paused, and keeps its times', async () => {
  const { id, nextRunAt } = await manager.create();
  await manager.runNow(id);
  await manager.runNow(id);
  await at(now);
  assert.deepEqual(scheduledFor(seen(id)), [START, START]);
  assert.equal(new Set(seen(id).map(({ key }) => key)).size, 2);
  assert.equal((await manager.read(id)).nextRunAt, nextRunAt);
  await manager.change(id, { enabled: false });
  await manager.runNow(id);
  await at(now);
  assert.equal(seen(id).length, 3);
});

test('pausing or deleting a schedule ends the runs that wait', async () => {
  const [paused, deleted] = [await manager.create(), await manager.create()];
  node.answer = answering(500);
  await at('2026-11-22T07:00:00.000Z');
  await manager.change(paused.id, { enabled: false });
  await manager.call(`${SCHEDULES}/${deleted.id}`, { method: 'DELETE' });
  node.answer = answering(200);
  await at(now + MINUTE);
  assert.deepEqual([seen(paused.id).length, seen(deleted.id).length], [1, 1]);
  assert.equal((await manager.read(paused.id)).lastRun?.outcome, 'skipped');
});

test('a backend that takes nothing makes at most 64 runs of a schedule wait', async () => {
  const { id } = await manager.create({ cron: '* * * * *' });
  node.answer = answering(500);
  for (let minute = 1; minute <= 64; minute += 1) {
    await world.core.context.pool.query('UPDATE schedule_runs SET give_up_at = $1', [new Date(now + DAY)]);
    await at(Date.parse(START) + minute * MINUTE);
  }
  const { rows } = await world.core.context.pool.query<{ count: number }>(
    'SELECT count(*)::integer FROM schedule_runs',
  );
  assert.equal(rows[0]?.count, 64);
  await at(now + MINUTE);
  const { rows: after } = await world.core.context.pool.query<{ count: number }>(
    'SELECT count(*)::integer FROM schedule_runs',
  );
  assert.equal(after[0]?.count, 64);
  assert.notEqual((await manager.read(id)).nextRunAt, null);
  assert.match((await manager.call(`${SCHEDULES}/${id}/run`, { method: 'POST' })).text, /concurrency_limited/);
});

test('a clock that jumps ahead and back loses no time, whatever happens to times that were missed', async () => {
  const once = await manager.create();
  const skip = await manager.create({ misfire: 'skip' });
  await at('2036-01-01T00:00:00.000Z');
  assert.deepEqual(scheduledFor(seen(once.id)), ['2035-12-31T07:00:00.000Z']);
  const third = await manager.create();
  await at('2026-11-21T10:00:10.000Z');
  await until('the times to be put right', async () => {
    await look();
    const all = await Promise.all([once, skip, third].map(({ id }) => manager.read(id)));
    return all.every(({ nextRunAt }) => nextRunAt === '2026-11-22T07:00:00.000Z');
  });
  await at('2026-11-22T07:00:00.000Z');
  for (const { id } of [once, skip, third])
    assert.deepEqual(scheduledFor(seen(id)).slice(-1), ['2026-11-22T07:00:00.000Z']);
});

test('a clock that steps back a little repeats no time, and one that steps back further repeats it under its key', async () => {
  const { id } = await manager.create();
  await at('2026-11-22T07:00:00.000Z');
  await at('2026-11-22T06:58:00.000Z');
  await at('2026-11-22T07:00:00.000Z');
  assert.equal(seen(id).length, 1);
  await at('2026-11-22T06:30:00.000Z');
  await until('the time to be put right', async () => {
    await look();
    return (await manager.read(id)).nextRunAt === '2026-11-22T07:00:00.000Z';
  });
  await at('2026-11-22T07:00:00.000Z');
  const [first, second] = seen(id);
  assert.equal(second?.key, first?.key);
});

test('an attempt from a clock that was ahead is not waited for', async () => {
  const { id } = await manager.create();
  await at(now + DAY);
  node.answer = answering(500);
  await manager.runNow(id);
  await at(now);
  const attempts = seen(id).length;
  node.answer = answering(200);
  await at(now - 2 * DAY);
  await until('the run to be delivered', async () => {
    await look();
    return seen(id).length > attempts;
  });
});
