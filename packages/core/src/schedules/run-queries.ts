// All SQL of what is due: schedules whose time has come, and runs on their way to a backend. A clock that went back leaves
// times behind that lie too far ahead; statements that look for what is due find these as well.

import type { Misfire, ScheduleId, ScheduleOutcome } from '@platform/contract';
import { sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { Executor } from '../database/schema.ts';

/** Replicas may differ by less. */
const AHEAD = sql`interval '5 minutes'`;
/** No attempt waits longer for the next one. */
const LONGEST_WAIT = sql`interval '15 minutes'`;

export interface DueRow {
  readonly id: ScheduleId;
  readonly account_key: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly misfire: Misfire;
  readonly next_run_at: Date;
  readonly waiting: number;
}

/** Locks schedules that are due, those due longest first, but for what another replica has locked. */
export async function lockDue(trx: Executor, now: Date, atMost: number): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    SELECT s.id, s.account_key, s.cron, s.time_zone, s.misfire, s.next_run_at,
           (SELECT count(*)::integer FROM schedule_runs r WHERE r.schedule_id = s.id) AS waiting
      FROM account_schedules s
      JOIN account_states a ON a.key = s.account_key AND a.paused_at IS NULL AND a.suspended_at IS NULL
     WHERE s.enabled AND (s.next_run_at <= ${now} OR s.planned_at > ${now}::timestamptz + ${AHEAD})
     ORDER BY s.next_run_at LIMIT ${atMost} FOR NO KEY UPDATE OF s SKIP LOCKED`.execute(trx);
  return rows;
}

export interface NewRun {
  readonly id: string;
  readonly scheduleId: ScheduleId;
  readonly accountKey: string;
  readonly scheduledFor: Date;
  readonly giveUpAt: Date;
}

/** Adds runs that are due; one for a time that has a run already is left out. */
export async function insertRuns(
  trx: Executor,
  runs: readonly NewRun[],
  now: Date,
  by: 'clock' | 'hand',
): Promise<void> {
  await sql`
    INSERT INTO schedule_runs (id, schedule_id, account_key, scheduled_for, by_hand, due_at, give_up_at)
    SELECT id, schedule_id, account_key, scheduled_for, ${by === 'hand'}, ${now}, give_up_at
      FROM unnest(${runs.map(({ id }) => id)}::text[], ${runs.map(({ scheduleId }) => scheduleId)}::text[],
                  ${runs.map(({ accountKey }) => accountKey)}::text[],
                  ${runs.map(({ scheduledFor }) => scheduledFor)}::timestamptz[],
                  ${runs.map(({ giveUpAt }) => giveUpAt)}::timestamptz[])
        AS r (id, schedule_id, account_key, scheduled_for, give_up_at)
    ON CONFLICT DO NOTHING`.execute(trx);
}

export interface Advance {
  readonly id: ScheduleId;
  /** `null`: it has no time any more, and is paused. */
  readonly nextRunAt: Date | null;
  readonly outcome: { readonly outcome: ScheduleOutcome; readonly detail: string } | null;
}

export async function advanceSchedules(trx: Executor, advances: readonly Advance[], now: Date): Promise<void> {
  await sql`
    UPDATE account_schedules s
       SET next_run_at = n.next_run_at, enabled = n.next_run_at IS NOT NULL, planned_at = ${now},
           last_at = CASE WHEN n.outcome IS NULL THEN s.last_at ELSE ${now} END,
           last_outcome = coalesce(n.outcome, s.last_outcome),
           last_detail = CASE WHEN n.outcome IS NULL THEN s.last_detail ELSE n.detail END
      FROM unnest(${advances.map(({ id }) => id)}::text[],
                  ${advances.map(({ nextRunAt }) => nextRunAt)}::timestamptz[],
                  ${advances.map(({ outcome }) => outcome?.outcome ?? null)}::text[],
                  ${advances.map(({ outcome }) => outcome?.detail ?? null)}::text[])
        AS n (id, next_run_at, outcome, detail)
     WHERE s.id = n.id`.execute(trx);
}

/** When the next schedule is due; `null` when none is. Those of paused accounts wait for the end of the pause. */
export async function nextScheduleDue(db: Executor): Promise<Date | null> {
  // Not `min`, for which PostgreSQL would read them all.
  const { rows } = await sql<{ at: Date | null }>`
    SELECT s.next_run_at AS at FROM account_schedules s
      JOIN account_states a ON a.key = s.account_key AND a.paused_at IS NULL AND a.suspended_at IS NULL
     WHERE s.enabled ORDER BY s.next_run_at LIMIT 1`.execute(db);
  return rows[0]?.at ?? null;
}

export interface RunRow {
  readonly id: string;
  readonly schedule_id: ScheduleId;
  readonly account_key: string;
  readonly scheduled_for: Date;
  readonly by_hand: boolean;
  /** This one included. */
  readonly attempts: number;
  readonly give_up_at: Date;
}

export interface Claim {
  readonly lease: string;
  readonly now: Date;
  readonly until: Date;
  readonly atMost: number;
  /** How many of one account all replicas together may deliver at a time. */
  readonly ofAccount: number;
}

/** Leases due runs of accounts that are not paused, as many of each as it has room for, those due longest first. */
export async function claimRuns(db: Executor, { lease, now, until, atMost, ofAccount }: Claim): Promise<RunRow[]> {
  const isHeld = sql`leased_until > ${now} AND leased_until <= ${until}::timestamptz + ${AHEAD}`;
  const isDue = sql`(due_at <= ${now} OR due_at > ${now}::timestamptz + ${LONGEST_WAIT}) AND (${isHeld}) IS NOT TRUE`;
  const { rows } = await sql<RunRow>`
    UPDATE schedule_runs SET lease = ${lease}, leased_until = ${until}, attempts = attempts + 1
     WHERE id IN (
       SELECT r.id
         FROM (SELECT DISTINCT account_key FROM schedule_runs WHERE ${isDue}) w
         JOIN account_states a ON a.key = w.account_key AND a.paused_at IS NULL AND a.suspended_at IS NULL
        CROSS JOIN LATERAL (
          SELECT id, due_at FROM schedule_runs
           WHERE account_key = w.account_key AND ${isDue}
           ORDER BY due_at, id
           LIMIT greatest(0, ${ofAccount}::bigint - (SELECT count(*) FROM schedule_runs h
                                               WHERE h.account_key = w.account_key AND ${isHeld}))
             FOR NO KEY UPDATE SKIP LOCKED) r
        ORDER BY r.due_at LIMIT ${atMost})
    RETURNING id, schedule_id, account_key, scheduled_for, by_hand, attempts, give_up_at`.execute(db);
  return rows;
}

/**
 * When the next run can be claimed; `null` when nothing waits. What has been due for more than a second waits for the
 * share of its account: the replica that releases it looks again.
 */
export async function nextRunDue(db: Executor, now: Date): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT min(greatest(r.due_at, r.leased_until)) AS at FROM schedule_runs r
      JOIN account_states a ON a.key = r.account_key AND a.paused_at IS NULL AND a.suspended_at IS NULL
     WHERE greatest(r.due_at, r.leased_until) > ${now}::timestamptz - interval '1 second'`.execute(db);
  return rows[0]?.at ?? null;
}

export interface Outcome {
  readonly at: Date;
  readonly outcome: ScheduleOutcome;
  readonly detail: string | null;
}

/** Ends a run, of any holder: what was delivered is delivered. */
export async function endRun(db: Executor, runId: string, { at, outcome, detail }: Outcome): Promise<void> {
  await sql`
    WITH ended AS (DELETE FROM schedule_runs WHERE id = ${runId} RETURNING schedule_id)
    UPDATE account_schedules SET last_at = ${at}, last_outcome = ${outcome}, last_detail = ${detail}
      FROM ended WHERE id = ended.schedule_id`.execute(db);
}

/** Gives a run back until its next attempt, unless another replica took it over. */
export async function repeatRun(
  db: Executor,
  run: { readonly id: string; readonly lease: string; readonly dueAt: Date },
  { at, outcome, detail }: Outcome,
): Promise<void> {
  await sql`
    WITH later AS (
      UPDATE schedule_runs SET due_at = ${run.dueAt}, lease = NULL, leased_until = NULL
       WHERE id = ${run.id} AND lease = ${run.lease} RETURNING schedule_id)
    UPDATE account_schedules SET last_at = ${at}, last_outcome = ${outcome}, last_detail = ${detail}
      FROM later WHERE id = later.schedule_id`.execute(db);
}

/** Gives a run back as if it had not been claimed. */
export async function releaseRun(db: Executor, run: { readonly id: string; readonly lease: string }): Promise<void> {
  await sql`
    UPDATE schedule_runs SET lease = NULL, leased_until = NULL, attempts = attempts - 1
     WHERE id = ${run.id} AND lease = ${run.lease}`.execute(db);
}

/** At the end of a pause: what waited for delivery is skipped or delivered at once, as its schedule says. */
export async function resumeRuns(
  trx: Executor,
  accountKey: string,
  {
    now,
    lateSince,
    giveUpAt,
    detail,
  }: { readonly now: Date; readonly lateSince: ProvenTime; readonly giveUpAt: Date; readonly detail: string },
): Promise<void> {
  await sql`
    WITH skipped AS (
      DELETE FROM schedule_runs r USING account_schedules s
       WHERE r.account_key = ${accountKey} AND s.id = r.schedule_id AND s.misfire = 'skip' AND NOT r.by_hand
         AND r.due_at < ${lateSince}
      RETURNING r.schedule_id)
    UPDATE account_schedules SET last_at = ${now}, last_outcome = 'skipped', last_detail = ${detail}
      FROM skipped WHERE id = skipped.schedule_id`.execute(trx);
  await sql`
    UPDATE schedule_runs SET due_at = least(due_at, ${now}), give_up_at = ${giveUpAt}
     WHERE account_key = ${accountKey}`.execute(trx);
}

/** Number of runs of a schedule that wait for delivery. */
export async function countRuns(db: Executor, scheduleId: ScheduleId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM schedule_runs WHERE schedule_id = ${scheduleId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Of all schedules. */
export async function countWaiting(db: Executor): Promise<number> {
  const { rows } = await sql<{ count: number }>`SELECT count(*)::integer AS count FROM schedule_runs`.execute(db);
  return rows[0]?.count ?? 0;
}
