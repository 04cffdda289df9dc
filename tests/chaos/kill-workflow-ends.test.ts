// Core and PostgreSQL are killed right before and right after what ends or removes a run without the app: the expiry is
// written down, what was kept long enough is removed, an ended run is deleted. Each has happened whole or not at all, and
// is done the next time.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Point } from '@platform/core';
import type { HeldMoment } from '../support/held-moments.ts';
import { until } from '../support/wait.ts';
import { startWorkflowWorld, type WorkflowWorld } from './workflow-world.ts';

let world: WorkflowWorld;
before(async () => {
  world = await startWorkflowWorld();
});
after(() => world?.close());

const query = <Row extends Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  world.postgres.query<Row>(sql, values);

/** A run with a completed step. */
async function newRun(idempotencyKey: string): Promise<string> {
  const order = { definition: 'order', version: 1, idempotencyKey, input: null, durationSeconds: 3_600 };
  const { run } = (await world.call('POST', '/workflows', order)) as unknown as { run: { id: string } };
  const claim = await world.call('POST', `/workflows/${run.id}/activities/pay/claim`, { activity: 'pay', input: 1 });
  const { id, leaseToken } = (claim as unknown as { activity: { id: string; leaseToken: string } }).activity;
  const settled = await world.call('POST', `/workflows/${run.id}/activities/${id}/complete`, { leaseToken, result: 1 });
  assert.equal(settled.status, 200);
  return run.id;
}

/** Status and last event of a run, and how many rows belong to it. */
async function stateOf(id: string): Promise<string> {
  const [run] = await query<{ status: string }>('SELECT status FROM workflow_runs WHERE id = $1', [id]);
  const events = await query<{ event: string }>(
    'SELECT event FROM workflow_history WHERE run_id = $1 ORDER BY sequence',
    [id],
  );
  const steps = await query('SELECT FROM workflow_activities WHERE run_id = $1', [id]);
  return `${run?.status ?? 'removed'}, ${events.at(-1)?.event ?? 'no history'}, steps: ${steps.length}`;
}

const PAST = `now() - interval '1 second'`;
interface Case {
  readonly point: 'expire' | 'cleanup' | 'remove';
  readonly prepare: (id: string) => Promise<unknown>;
  readonly before: string;
  readonly after: string;
  /** How it is done; without it the housekeeping does it, which looks when core starts. */
  readonly request?: (id: string) => Promise<{ readonly status: number }>;
}

const CASES: readonly Case[] = [
  {
    point: 'expire',
    prepare: (id) => query(`UPDATE workflow_runs SET expires_at = ${PAST} WHERE id = $1`, [id]),
    before: 'running, activity-completed, steps: 1',
    after: 'expired, expired, steps: 1',
  },
  {
    point: 'cleanup',
    async prepare(id) {
      await world.call('DELETE', `/workflows/${id}`);
      await query(`UPDATE workflow_runs SET cleanup_at = ${PAST} WHERE id = $1`, [id]);
    },
    before: 'cancelled, cancelled, steps: 1',
    after: 'removed, no history, steps: 0',
  },
  {
    point: 'remove',
    prepare: (id) => world.call('DELETE', `/workflows/${id}`),
    before: 'cancelled, cancelled, steps: 1',
    after: 'removed, no history, steps: 0',
    request: (id) => world.call('DELETE', `/workflows/${id}`),
  },
];

for (const victim of ['core', 'PostgreSQL'] as const) {
  for (const { point, prepare, request, ...states } of CASES) {
    for (const when of ['committing', 'committed'] as const) {
      const moment = `workflows.${point}.${when}` as const;
      const outcome = when === 'committed' ? 'whole' : 'not at all';
      test(`${victim} is killed at ${moment}: it has happened ${outcome}`, async () => {
        const id = await newRun(`${victim} ${moment}`);
        await prepare(id);
        const held = request === undefined ? await startDue(moment) : world.core.hold(moment);
        const asked = request?.(id).catch(() => undefined);
        await held?.reached;

        if (victim === 'PostgreSQL') await world.postgres.kill();
        else await world.core.kill();
        held?.release();
        await asked;
        await world.core.kill();
        if (victim === 'PostgreSQL') await world.postgres.start();
        assert.equal(await stateOf(id), when === 'committed' ? states.after : states.before);

        await startDue();
        await request?.(id);
        await until('it to be done', async () => (await stateOf(id)) === states.after);
      });
    }
  }
}

/** Core starts when the housekeeping is due. */
async function startDue(holdAt?: Point): Promise<HeldMoment | null> {
  await world.core.kill();
  await query(`UPDATE periodic_tasks SET next_at = ${PAST} WHERE name = 'workflow-housekeeping'`);
  world.core = await world.startCore(holdAt === undefined ? {} : { holdAt });
  return world.core.held;
}
