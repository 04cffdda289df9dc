// Core is killed at each moment between the time of a schedule and the end of its run. Another replica does the rest: the
// backend gets the run at least once, always under one key, and the schedule goes on.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InstallationId, ScheduleFiring } from '@platform/contract';
import type { Point } from '@platform/core';
import { cordonNode } from '@platform/core/operator';
import { installationRow } from '../../packages/core/test-support/apps.ts';
import { joinTestNode } from '../../packages/core/test-support/joined-node.ts';
import {
  JOBS,
  type Manager,
  managerOf,
  managerPackage,
  SCHEDULES,
  TRIGGERS,
} from '../../packages/core/test-support/schedules.ts';
import { registerAccount } from '../support/client.ts';
import { type Constellation, newNodeKey, startConstellation } from '../support/constellation.ts';
import { startCoreProcess } from '../support/core-process.ts';
import { publishTestApp } from '../support/publish.ts';
import { type RealNode, startRealNode } from '../support/real-node.ts';
import { until } from '../support/wait.ts';

const WORKLOAD = `
  const http = process.getBuiltinModule('node:http');
  const seen = [];
  http.createServer((req, res) => {
    if (req.url === '/seen') return res.end(JSON.stringify(seen));
    let text = '';
    req.on('data', (chunk) => { text += chunk; });
    req.on('end', () => { seen.push({ key: req.headers['idempotency-key'], firing: JSON.parse(text) }); res.end(); });
  }).listen(Number(process.env.PORT));
`;

/** What a killed replica held waits five and a half seconds. */
const schedules = { attemptMilliseconds: 5_000, takeoverMilliseconds: 500 };

interface Seen {
  readonly key: string;
  readonly firing: ScheduleFiring;
}

let world: Constellation;
let node: RealNode;
let id: InstallationId;
let scheduleId: string;
let manager: Manager;

before(async () => {
  // The constellation's own core cannot be killed: it leaves schedules to the others.
  world = await startConstellation({ systemPackages: [await managerPackage()], schedules: { idle: true } });
  const account = await registerAccount(world, 'early-riser');
  const joined = await joinTestNode(world, 'far');
  node = await startRealNode(world, { credential: joined.credential(), key: joined.key });
  manager = await managerOf(world, account);
  await cordonNode(world.core.context, 'local');
  const workload = { runtime: 'node', entry: 'main.mjs', mode: 'always', triggers: TRIGGERS };
  await publishTestApp(account, JOBS, { workload }, { 'workload/main.mjs': WORKLOAD, 'frontend/index.html': '' });
  await account.browser.take('/v1/apps', { body: { appId: JOBS } });
  id = (await installationRow(world, account, JOBS)).id;
  ({ id: scheduleId } = await manager.create({ cron: '0 0 1 1 *' }));
});
after(async () => {
  await node?.stop();
  await world?.close();
});

async function query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
  return (await world.core.context.pool.query<Row>(text, values)).rows;
}

const POINTS: readonly Point[] = [
  'schedules.fire.committing',
  'schedules.fire.committed',
  'schedules.deliver',
  'schedules.settle.committing',
  'schedules.settle.committed',
];

for (const [index, dieAt] of POINTS.entries())
  test(`core that is killed at ${dieAt} loses no run`, async (context) => {
    // A time of its own for each test, a moment ago.
    const due = new Date(Date.now() - 1_000 - index);
    const mortal = await startCoreProcess(world, { dieAt, schedules });
    await query('UPDATE account_schedules SET next_run_at = $2 WHERE id = $1', [scheduleId, due]);
    // Whatever is changed, the replicas look at once.
    await manager.change(scheduleId, { name: dieAt });
    await until('core to die', () => mortal.dead, 60_000);
    const ours = (await seenAfterwards(due)).filter(({ firing }) => firing.scheduledFor === due.toISOString());
    context.diagnostic(`the backend got the run ${ours.length} times`);
    assert.ok(ours.length === 1 || ours.length === 2, `${ours.length} times`);
    assert.equal(new Set(ours.map(({ key }) => key)).size, 1, 'always under one key');
    if (dieAt !== 'schedules.settle.committing') assert.equal(ours.length, 1);
  });

for (const dieAt of ['schedules.run.committing', 'schedules.run.committed'] as const)
  test(`core that is killed at ${dieAt} has the run of a person or not, and never half`, async () => {
    const begun = new Date();
    const mortal = await startCoreProcess(world, { dieAt, schedules: { idle: true } });
    await manager.change(scheduleId, { name: dieAt });
    await assert.rejects(manager.call(`${SCHEDULES}/${scheduleId}/run`, { method: 'POST' }, mortal));
    await until('core to die', () => mortal.dead, 60_000);
    const stored = await query('SELECT FROM schedule_runs', []);
    assert.equal(stored.length, dieAt === 'schedules.run.committed' ? 1 : 0);
    // The person did not hear of it, and presses again.
    await manager.runNow(scheduleId);
    const ours = (await seenAfterwards(begun)).filter(({ firing }) => firing.name === dieAt);
    assert.equal(ours.length, stored.length + 1);
    assert.equal(new Set(ours.map(({ key }) => key)).size, ours.length);
  });

/** What the backend saw once another replica has delivered all there is. */
async function seenAfterwards(since: Date): Promise<Seen[]> {
  const { publicKey } = newNodeKey();
  const survivor = await world.replica({
    localNode: { publicKey, name: 'none', inherits: false, leased: false, runtime: false },
    schedules,
  });
  try {
    await until(
      'the runs to end',
      async () => {
        const [row] = await query<{ ended: boolean }>(
          `SELECT last_outcome = 'delivered' AND last_at >= $2 AND next_run_at > now()
                  AND NOT EXISTS (SELECT FROM schedule_runs) AS ended
             FROM account_schedules WHERE id = $1`,
          [scheduleId, since],
        );
        return row?.ended === true;
      },
      60_000,
    );
    const signal = AbortSignal.timeout(30_000);
    const answer = await survivor.context.backends.call(id, { method: 'GET', path: '/seen', signal });
    return JSON.parse((await answer.read(1_000_000)).toString('utf8')) as Seen[];
  } finally {
    await survivor.stop();
  }
}
