// All SQL of activities. Claim, renew and complete are one statement each: what must hold stands in its WHERE, and the
// token of the lease, never the time alone, says who may go on.
import type { ActivityId, InstallationId, WorkflowId } from '@platform/contract';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Executor } from '../database/schema.ts';
import { HELD_BYTES } from './run-queries.ts';

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
 * Locks the run, which orders what happens in it and gives its history numbers without gaps. Parameters 1 to 3 are the
 * run, its installation and the time.
 */
const RUNNING = `
  run AS MATERIALIZED (
    SELECT id, activities, last_sequence, stored_bytes FROM workflow_runs
     WHERE id = $1 AND installation_id = $2 AND status = 'running' AND expires_at > $3
       FOR NO KEY UPDATE)`;

/**
 * Whether the runs of the installation have room for the input and the result of one more activity. Only a run with more
 * than its share looks at the others: while none has more, all are within the limit. A step that was claimed before has
 * its room already; only who claims and gives back for ever fills the same again.
 */
const HAS_ROOM = `(
  ${HELD_BYTES} + octet_length($7::text) + $14::bigint <= $15::bigint
  OR (SELECT sum(${HELD_BYTES}) FROM workflow_runs WHERE installation_id = $2 AND status = 'running')
     <= CASE WHEN EXISTS (SELECT FROM workflow_activities e WHERE e.run_id = $1 AND e.step = $5)
             THEN 2 * $16::bigint ELSE $16::bigint - octet_length($7::text) - $14::bigint END)`;

const CLAIM = {
  name: 'claim-workflow-activity',
  text: `
    WITH ${RUNNING}, claimed AS (
      INSERT INTO workflow_activities AS a
             (id, run_id, step, name, input, input_hash, attempt, lease_hash, lease_expires_at, created_at)
      SELECT $4, run.id, $5, $6, $7, $8, 1, $9, $10, $3 FROM run
       WHERE run.last_sequence < $12
         AND (run.activities < $13 OR EXISTS (SELECT FROM workflow_activities e WHERE e.run_id = run.id AND e.step = $5))
         AND ${HAS_ROOM}
      ON CONFLICT (run_id, step) DO UPDATE
         SET attempt = a.attempt + 1, lease_hash = EXCLUDED.lease_hash, lease_expires_at = EXCLUDED.lease_expires_at,
             was_taken_over = a.lease_expires_at IS NOT NULL
       WHERE a.completed_at IS NULL AND a.name = EXCLUDED.name AND a.input_hash = EXCLUDED.input_hash
         AND (a.lease_expires_at IS NULL OR a.lease_expires_at <= $3 OR a.lease_expires_at > $11)
      RETURNING a.id, a.run_id, a.attempt, a.was_taken_over
    ), counted AS (
      UPDATE workflow_runs r
         SET last_sequence = r.last_sequence + 1 + c.was_taken_over::integer, updated_at = $3,
             activities = r.activities + (c.attempt = 1)::integer,
             stored_bytes = r.stored_bytes + CASE c.attempt WHEN 1 THEN octet_length($7::text) + $14::bigint ELSE 0 END
        FROM claimed c WHERE r.id = c.run_id
      RETURNING r.last_sequence
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event, step, activity_id, attempt)
      SELECT c.run_id, n.last_sequence - e.before, $3, e.event, $5, c.id, c.attempt - e.before
        FROM claimed c, counted n, (VALUES (0, 'activity-claimed'), (1, 'activity-lease-expired')) e (before, event)
       WHERE e.before = 0 OR c.was_taken_over
    )
    SELECT id, attempt FROM claimed`,
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
  /** A lease that lasts longer was given by a clock that was wrong, and has expired. */
  readonly latestLease: Date;
  readonly mostEvents: number;
  readonly mostActivities: number;
  /** Kept free for its result from the first claim on, so that completing it needs no room. */
  readonly resultBytes: number;
  /** Of the inputs, results and histories of all running runs of the installation. */
  readonly mostBytes: number;
  readonly mostRuns: number;
}

/** @returns `undefined` when the step cannot be claimed now; `findActivityOfStep` says why */
export async function claimStep(pool: pg.Pool, claim: Claim): Promise<Pick<ActivityRow, 'id' | 'attempt'> | undefined> {
  const values = [
    claim.workflowId,
    claim.installationId,
    claim.now,
    claim.id,
    claim.step,
    claim.name,
    claim.input,
    claim.inputHash,
    claim.leaseHash,
    claim.leaseExpiresAt,
    claim.latestLease,
    claim.mostEvents,
    claim.mostActivities,
    claim.resultBytes,
    Math.floor(claim.mostBytes / claim.mostRuns),
    claim.mostBytes,
  ];
  return (await pool.query<Pick<ActivityRow, 'id' | 'attempt'>>({ ...CLAIM, values })).rows[0];
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
  name: 'settle-workflow-activity',
  text: `
    WITH ${RUNNING}, settled AS (
      UPDATE workflow_activities a
         SET lease_expires_at = NULL, result = $6, result_hash = $7,
             completed_at = CASE WHEN $6::text IS NOT NULL THEN $3::timestamptz END
        FROM run
       WHERE a.id = $4 AND a.run_id = run.id AND a.lease_hash = $5 AND a.lease_expires_at IS NOT NULL
      RETURNING ${COLUMNS.replaceAll(/\w+/g, 'a.$&')}, a.run_id
    ), counted AS (
      UPDATE workflow_runs r
         SET last_sequence = r.last_sequence + 1, updated_at = $3,
             stored_bytes = r.stored_bytes + coalesce(octet_length($6::text) - $8::bigint, 0)
        FROM settled s WHERE r.id = s.run_id
      RETURNING r.last_sequence
    ), recorded AS (
      INSERT INTO workflow_history (run_id, sequence, at, event, step, activity_id, attempt)
      SELECT s.run_id, n.last_sequence, $3,
             CASE WHEN $6::text IS NULL THEN 'activity-failed' ELSE 'activity-completed' END, s.step, s.id, s.attempt
        FROM settled s, counted n
    )
    SELECT ${COLUMNS} FROM settled`,
};

/** @returns `undefined` unless this lease was still the last one of an activity of a running run */
export async function settleActivity(
  pool: pg.Pool,
  lease: HeldLease,
  result: { readonly text: string; readonly hash: Buffer } | null,
  /** Kept free for it by the claim. */
  resultBytes: number,
): Promise<ActivityRow | undefined> {
  const { workflowId, installationId, now, id, leaseHash } = lease;
  const kept = [result?.text ?? null, result?.hash ?? null, resultBytes];
  const values = [workflowId, installationId, now, id, leaseHash, ...kept];
  return (await pool.query<ActivityRow>({ ...SETTLE, values })).rows[0];
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
