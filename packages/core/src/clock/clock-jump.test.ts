// A story on a real PostgreSQL: for a minute the clock of the machine, and PostgreSQL's with it, is a hundred days ahead, while
// core runs, while it restarts, and while everything is used that used to clear away by the way. Nothing is gone, and nothing
// is refused afterwards.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { confirm, registerAccount, signIn, type TestAccount } from '../../../../tests/support/client.ts';
import { type Constellation, startConstellation, type TestCore } from '../../../../tests/support/constellation.ts';
import { type InstalledTestApp, installTestApp } from '../../../../tests/support/installed-app.ts';
import { until } from '../../../../tests/support/wait.ts';
import { RUNS, runFrom } from '../../test-support/workflows.ts';
import { createInvitation } from '../accounts/registration/invitations.ts';
import { PeriodicTask } from '../background/periodic-task.ts';
import { notify } from '../database/notify.ts';
import { createIngressToken } from '../ingress/ingresses.ts';
import { createCoreMetrics } from '../metrics.ts';
import { createNodeToken } from '../nodes/join-node.ts';
import type { MachineTime } from './machine-time.ts';

const DAY = 86_400_000;
let passed = 0;
let set = 0;
const START = Date.now();
const real = () => START + passed;
const clock = () => new Date(real() + set);
const machine: MachineTime = { clock, database: clock, uptime: () => DAY + passed, boot: 'story' };
const metrics = createCoreMetrics();

let world: Constellation;
let core: TestCore;
let keeper: TestAccount;
let leaver: TestAccount;
let app: InstalledTestApp;
let run: string;

before(async () => {
  world = await startConstellation({ clock, machine, metrics, config: { masterAccount: 'keeper' } });
  core = world.core;
  keeper = await registerAccount(world, 'keeper');
  leaver = await registerAccount(world, 'leaver');
  app = await installTestApp(world, keeper, 'shop', [
    { id: 'notifications.publish', resources: ['*'] },
    { id: 'system.inventory.read', resources: ['*'] },
  ]);
  const { context } = core;
  await publish();
  const begun = await app.call(RUNS, {
    method: 'POST',
    body: { definition: 'order', version: 1, idempotencyKey: 'one', input: null, durationSeconds: 3_600 },
  });
  run = runFrom(begun, 201).id;
  const closing = { name: leaver.name, confirmation: await confirm(leaver, 'account.delete') };
  await leaver.browser.take('/v1/account/deletion', { body: closing });
  await createInvitation(context, 'guest');
  await createNodeToken(context, []);
  await createIngressToken(context);
  await lease();
});
after(() => world.close());
beforeEach(() => {
  set = 0;
});

async function publish(): Promise<void> {
  const body = { topic: 'news', title: 'Hello', body: '', priority: 'low' };
  const answer = await app.call('/v1/services/notifications', { method: 'POST', body });
  assert.equal(answer.status, 201, answer.text);
}

async function lease(): Promise<void> {
  const answer = await app.call('/v1/services/runtime/work-leases', { body: { durationSeconds: 300 } });
  assert.equal(answer.status, 201, answer.text);
}

/** Every table that something is deleted from by age, and the rows that were there before. */
const TABLES = [
  'accounts',
  'sessions',
  'challenges',
  'notifications',
  'workflow_runs',
  'invitations',
  'node_tokens',
  'ingress_tokens',
  'work_leases',
  'frontend_capabilities',
  'data_plane_capabilities',
  'rate_buckets',
  'author_requests',
  'enrolment_links',
];

async function rows(): Promise<Map<string, number>> {
  const counts = TABLES.map(async (table) => {
    const { rows: found } = await core.context.pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
    return [table, found[0]?.n ?? 0] as const;
  });
  return new Map(await Promise.all(counts));
}

/** Whether a sweep that is due runs. */
async function sweeps(): Promise<boolean> {
  let ran = false;
  const task = new PeriodicTask(core.context, {
    name: 'sweep-of-test',
    everyMilliseconds: 1,
    piece: async () => {
      ran = true;
      return false;
    },
  });
  passed += 2;
  await task.run();
  return ran;
}

async function useEverything(): Promise<void> {
  const { context } = core;
  await publish();
  await createInvitation(context, null);
  await createNodeToken(context, []);
  await createIngressToken(context);
  await signIn(world, keeper.authenticator);
  assert.equal((await keeper.fetch('/v1/auth/session')).status, 200);
}

const inventory = async () => {
  const answer = await app.call('/v1/services/system');
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { topology: { clock: string | null } }).topology.clock;
};

function assertNothingGone(former: Map<string, number>, now: Map<string, number>): void {
  for (const [table, count] of former)
    assert.ok((now.get(table) ?? 0) >= count, `${table}: ${count} → ${now.get(table)}`);
}

for (const by of [100 * DAY, 6 * 60_000, -100 * DAY])
  test(`a minute ${by / 60_000} minutes off deletes, ends and refuses nothing, then or later`, async () => {
    const former = await rows();
    set = by;
    for (let second = 0; second < 60; second += 20) {
      await core.context.pool.query('UPDATE periodic_tasks SET next_at = $1', [new Date(0)]);
      assert.equal(await sweeps(), false);
      await useEverything();
      passed += 20_000;
    }
    assert.match((await inventory()) ?? '', /clock of this machine jumped/);
    assert.match(await metrics.text(), /^platform_core_clock_held 1$/m);
    const during = await rows();
    assertNothingGone(former, during);
    const { rows: ahead } = await core.context.pool.query(
      `SELECT 'sessions' AS what FROM sessions WHERE created_at > $1
       UNION ALL SELECT 'notifications' FROM notifications WHERE created_at > $1
       UNION ALL SELECT 'rate_buckets' FROM rate_buckets WHERE at > $1`,
      [new Date(real() + 60_000)],
    );
    assert.deepEqual(ahead, [], 'no row has a time that did not come');
    set = 0;
    assert.equal(await sweeps(), true);
    for (let count = 0; count < 5; count += 1) await useEverything();
    assert.equal(await inventory(), null);
    assert.match(await metrics.text(), /^platform_core_clock_held 0$/m);
    const answer = await app.call(`${RUNS}/${run}`);
    assert.equal(runFrom(answer).status, 'running');
    assertNothingGone(during, await rows());
  });

test('neither does a core that starts meanwhile', async () => {
  const former = await rows();
  set = 100 * DAY;
  const other = await world.replica({ clock, metrics: createCoreMetrics() });
  assert.equal(other.context.clock().getTime(), real());
  assert.equal(await other.context.time.sweep(), null);
  await createInvitation(other.context, null);
  assertNothingGone(former, await rows());
  assert.ok(world.log.some(({ level, message }) => level === 'error' && message.includes('./platform clock accept')));
  set = 0;
  await other.stop();
});

test('when the time has really come, all of it goes', async () => {
  passed += 8 * DAY;
  await until('the account to be deleted after its grace', async () => {
    await notify(core.context.database, 'pause-changed', { accountKey: 'nobody' });
    const { rows: found } = await core.context.pool.query("SELECT FROM accounts WHERE name = 'leaver'");
    return found.length === 0;
  });
});
