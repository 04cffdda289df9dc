// All SQL of activities. Claim, renew and complete are one statement each: what must hold stands in its WHERE, and the
// token of the lease, never the time alone, says who may go on. One statement claims or completes steps of several runs;
// what holds for one of them does not depend on the others.
import type { ActivityId, InstallationId, WorkflowId } from '@platform/contract';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Executor } from '../database/schema.ts';
import { FEW, HELD_BYTES } from './run-queries.ts';

export interface ActivityRow {
  readonly id: ActivityId;
  readonly step: string;
  readonly name: string;
  readonly attempt: number;
  readonly input_hash: Buffer;
  readonly lease_hash: Buffer;
  readonly lease_expires_at: Date | null;
  readonly result: string | null;
  readonly result_hash: Buffer | null;
}

const COLUMNS = 'id, step, name, attempt, input_hash, lease_hash, lease_expires_at, result, result_hash';

/**
 * The rows of `asked`, each with its run, which it locks: that orders what happens in a run and gives its history numbers
 * without gaps. Each row has another run, in the order in which all statements lock several. Parameter 1 is the
 * installation.
 */
const RUNNING = `
  run AS MATERIALIZED (
    SELECT asked.*, r.activities, r.last_sequence, r.stored_bytes
      FROM asked, LATERAL (
        SELECT status, expires_at, activities, last_sequence, stored_bytes FROM workflow_runs
         WHERE id = asked.run_id AND installation_id = $1 OFFSET 0 FOR NO KEY UPDATE) r
     WHERE r.status = 'running' AND r.expires_at > asked.now)`;

/**
 * Whether the runs of the installation have room for the input and the result of one more activity. Only a run with more
 * than its share looks at the others: while none has more, all are within the limit. A step that was claimed before has
 * its room already; only who claims and gives back for ever fills the same again.
 */
const HAS_ROOM = `(
  ${HELD_BYTES} + octet_length(input) + $14::bigint <= $15::bigint
  OR (SELECT sum(${HELD_BYTES}) FROM workflow_runs WHERE installation_id = $1 AND status = 'running')
     <= CASE WHEN is_known THEN 2 * $16::bigint ELSE $16::bigint - octet_length(input) - $14::bigint END)`;

const CLAIM = {
  name: 'claim-workflow-activities',
  text: `
    WITH asked AS MATERIALIZED (
      SELECT * FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[],
                           $9::bytea[], $10::timestamptz[])
               AS a (run_id, now, id, step, name, input, input_hash, lease_hash, lease_expires_at)
       ORDER BY run_id ${FEW}
    ), ${RUNNING}, claimed AS (
      INSERT INTO workflow_activities AS a
             (id, run_id, step, name, input, input_hash, attempt, lease_hash, lease_expires_at, created_at)
      SELECT id, run_id, step, name, input, input_hash, 1, lease_hash, lease_expires_at, now
        FROM run, LATERAL (SELECT count(*) > 0 AS is_known FROM workflow_activities e
                            WHERE e.run_id = run.run_id AND e.step = run.step) k
       WHERE last_sequence < $11 AND (activities < $12 OR is_known) AND ${HAS_ROOM}
      ON CONFLICT (run_id, step) DO UPDATE
         SET attempt = a.attempt + 1, lease_hash = EXCLUDED.lease_hash, lease_expires_at = EXCLUDED.lease_expires_at,
             was_taken_over = a.lease_expires_at IS NOT NULL
       WHERE a.completed_at IS NULL AND a.name = EXCLUDED.name AND a.input_hash = EXCLUDED.input_hash
         AND CASE WHEN a.lease_expires_at IS NULL THEN a.lease_hash <> EXCLUDED.lease_hash
                  ELSE a.lease_expires_at <= EXCLUDED.created_at
                       OR a.lease_expires_at > EXCLUDED.lease_expires_at + make_interval(secs => $13::integer) END
      RETURNING a.id, a.run_id, a.attempt, a.was_taken_over
    ), counted AS (
      UPDATE workflow_runs r
         SET last_sequence = r.last_sequence + 1 + c.was_taken_over::integer, updated_at = u.now,
             activities = r.activities + (c.attempt = 1)::integer,
             stored_bytes = r.stored_bytes + CASE c.attempt WHEN 1 THEN octet_length(u.input) + $14::bigint ELSE 0 END
        FROM claimed c JOIN asked u USING (run_id) WHERE r.id = c.run_id
      RETURNING r.id AS run_id, r.last_sequence
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event, step, activity_id, attempt)
      SELECT run_id, n.last_sequence - e.before, u.now, e.event, u.step, c.id, c.attempt - e.before
        FROM claimed c JOIN counted n USING (run_id) JOIN asked u USING (run_id)
       CROSS JOIN (VALUES (0, 'activity-claimed'), (1, 'activity-lease-expired')) e (before, event)
       WHERE e.before = 0 OR c.was_taken_over
    )
    SELECT run_id, id, attempt FROM claimed`,
};

export interface Claim {
  readonly workflowId: WorkflowId;
  readonly installationId: InstallationId;
  readonly now: Date;
  readonly id: ActivityId;
  readonly step: string;
  readonly name: string;
  readonly input: string;
  readonly inputHash: Buffer;
  readonly leaseHash: Buffer;
  readonly leaseExpiresAt: Date;
}

export interface ClaimRules {
  /** A lease that ends later than a new one by more than this was given by a clock that was wrong, and has expired. */
  readonly skewSeconds: number;
  readonly mostEvents: number;
  readonly mostActivities: number;
  /** Kept free for its result from the first claim on, so that completing it needs no room. */
  readonly resultBytes: number;
  /** Of the inputs, results and histories of all running runs of the installation. */
  readonly mostBytes: number;
  readonly mostRuns: number;
}

export type ClaimedRow = Pick<ActivityRow, 'id' | 'attempt'>;

/**
 * @param claims of one installation, each of another run
 * @returns for each of them the activity, or `undefined` when the step cannot be claimed now; `findActivityOfStep` says
 *   why
 */
export async function claimSteps(
  pool: pg.Pool,
  installationId: InstallationId,
  claims: readonly Claim[],
  rules: ClaimRules,
): Promise<(ClaimedRow | undefined)[]> {
  const values = [
    installationId,
    claims.map(({ workflowId }) => workflowId),
    claims.map(({ now }) => now),
    claims.map(({ id }) => id),
    claims.map(({ step }) => step),
    claims.map(({ name }) => name),
    claims.map(({ input }) => input),
    claims.map(({ inputHash }) => inputHash),
    claims.map(({ leaseHash }) => leaseHash),
    claims.map(({ leaseExpiresAt }) => leaseExpiresAt),
    rules.mostEvents,
    rules.mostActivities,
    rules.skewSeconds,
    rules.resultBytes,
    Math.floor(rules.mostBytes / rules.mostRuns),
    rules.mostBytes,
  ];
  const { rows } = await pool.query<ClaimedRow & { run_id: WorkflowId }>({ ...CLAIM, values });
  const ofRun = new Map(rows.map((row) => [row.run_id, row]));
  return claims.map(({ workflowId }) => ofRun.get(workflowId));
}

const RENEW = {
  name: 'renew-workflow-activity',
  text: `
    UPDATE workflow_activities a SET lease_expires_at = $6
      FROM workflow_runs r
     WHERE a.id = $4 AND a.run_id = $1 AND a.lease_hash = $5 AND a.lease_expires_at IS NOT NULL
       AND r.id = a.run_id AND r.installation_id = $2 AND r.status = 'running' AND r.expires_at > $3
    RETURNING a.id, a.step, a.name, a.attempt, a.lease_expires_at`,
};

export interface HeldLease {
  readonly workflowId: WorkflowId;
  readonly installationId: InstallationId;
  readonly now: Date;
  readonly id: ActivityId;
  readonly leaseHash: Buffer;
}

export type RenewedRow = Pick<ActivityRow, 'id' | 'step' | 'name' | 'attempt' | 'lease_expires_at'>;

/** @returns `undefined` unless this lease is still the last one of an activity of a running run */
export async function renewLease(pool: pg.Pool, lease: HeldLease, until: Date): Promise<RenewedRow | undefined> {
  const values = [lease.workflowId, lease.installationId, lease.now, lease.id, lease.leaseHash, until];
  return (await pool.query<RenewedRow>({ ...RENEW, values })).rows[0];
}

/** Ends the lease with a result, or without one: then the step can be claimed again. */
const SETTLE = {
  name: 'settle-workflow-activities',
  text: `
    WITH asked AS MATERIALIZED (
      SELECT * FROM unnest($2::text[], $3::timestamptz[], $4::text[], $5::bytea[], $6::text[], $7::bytea[])
               AS a (run_id, now, id, lease_hash, result, result_hash)
       ORDER BY run_id ${FEW}
    ), ${RUNNING}, settled AS (
      UPDATE workflow_activities a
         SET lease_expires_at = NULL, result = run.result, result_hash = run.result_hash,
             completed_at = CASE WHEN run.result IS NOT NULL THEN run.now END
        FROM run
       WHERE a.id = run.id AND a.run_id = run.run_id AND a.lease_hash = run.lease_hash AND a.lease_expires_at IS NOT NULL
      RETURNING a.run_id, ${COLUMNS.replaceAll(/\w+/g, 'a.$&')}
    ), counted AS (
      UPDATE workflow_runs r
         SET last_sequence = r.last_sequence + 1, updated_at = u.now,
             stored_bytes = r.stored_bytes + coalesce(octet_length(s.result) - $8::bigint, 0)
        FROM settled s JOIN asked u USING (run_id) WHERE r.id = s.run_id
      RETURNING r.id AS run_id, r.last_sequence, r.updated_at
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event, step, activity_id, attempt)
      SELECT run_id, n.last_sequence, n.updated_at,
             CASE WHEN s.result IS NULL THEN 'activity-failed' ELSE 'activity-completed' END, s.step, s.id, s.attempt
        FROM settled s JOIN counted n USING (run_id)
    )
    SELECT run_id, ${COLUMNS} FROM settled`,
};

export interface Settlement {
  readonly lease: HeldLease;
  readonly result: { readonly text: string; readonly hash: Buffer } | null;
}

/**
 * @param settlements of one installation, each of another run
 * @param resultBytes kept free for each result by the claim
 * @returns for each of them the activity, or `undefined` unless this lease was still the last one of an activity of a
 *   running run
 */
export async function settleActivities(
  pool: pg.Pool,
  installationId: InstallationId,
  settlements: readonly Settlement[],
  resultBytes: number,
): Promise<(ActivityRow | undefined)[]> {
  const values = [
    installationId,
    settlements.map(({ lease }) => lease.workflowId),
    settlements.map(({ lease }) => lease.now),
    settlements.map(({ lease }) => lease.id),
    settlements.map(({ lease }) => lease.leaseHash),
    settlements.map(({ result }) => result?.text ?? null),
    settlements.map(({ result }) => result?.hash ?? null),
    resultBytes,
  ];
  const { rows } = await pool.query<ActivityRow & { run_id: WorkflowId }>({ ...SETTLE, values });
  const ofRun = new Map(rows.map((row) => [row.run_id, row]));
  return settlements.map(({ lease }) => ofRun.get(lease.workflowId));
}

const OF_STEP = {
  name: 'find-workflow-activity-of-step',
  text: `SELECT ${COLUMNS} FROM workflow_activities WHERE run_id = $1 AND step = $2`,
};

/** The run is one of the caller's. */
export async function findActivityOfStep(
  pool: pg.Pool,
  workflowId: WorkflowId,
  step: string,
): Promise<ActivityRow | undefined> {
  return (await pool.query<ActivityRow>({ ...OF_STEP, values: [workflowId, step] })).rows[0];
}

const BY_ID = {
  name: 'find-workflow-activity',
  text: `SELECT ${COLUMNS} FROM workflow_activities WHERE run_id = $1 AND id = $2`,
};

/** The run is one of the caller's. */
export async function findActivity(
  pool: pg.Pool,
  workflowId: WorkflowId,
  id: ActivityId,
): Promise<ActivityRow | undefined> {
  return (await pool.query<ActivityRow>({ ...BY_ID, values: [workflowId, id] })).rows[0];
}

export interface TimelineRow extends Pick<ActivityRow, 'id' | 'step' | 'name' | 'attempt' | 'lease_expires_at'> {
  readonly created_at: Date;
  readonly completed_at: Date | null;
  readonly input_bytes: number;
  readonly result_bytes: number | null;
}

/** All activities of a run, in the order of their first claim. */
export async function selectTimeline(db: Executor, workflowId: WorkflowId): Promise<TimelineRow[]> {
  const { rows } = await sql<TimelineRow>`
    SELECT id, step, name, attempt, lease_expires_at, created_at, completed_at,
           octet_length(input) AS input_bytes, octet_length(result) AS result_bytes
      FROM workflow_activities WHERE run_id = ${workflowId} ORDER BY created_at, id`.execute(db);
  return rows;
}
