// All SQL of schedules as their owner sees and changes them.
import type { Misfire, ScheduleId, ScheduleOutcome } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

export interface ScheduleRow {
  readonly id: ScheduleId;
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly app_id: string;
  readonly trigger_name: string;
  /** Compact JSON. */
  readonly payload: string | null;
  readonly enabled: boolean;
  readonly misfire: Misfire;
  readonly next_run_at: Date | null;
  readonly planned_at: Date;
  readonly last_at: Date | null;
  readonly last_outcome: ScheduleOutcome | null;
  readonly last_detail: string | null;
}

const COLUMNS = sql`id, name, cron, time_zone, app_id, trigger_name, payload, enabled, misfire, next_run_at, planned_at,
  last_at, last_outcome, last_detail`;

/** Serialises what adds schedules to an account. */
export async function lockAccountForSchedule(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT FROM account_states WHERE key = ${accountKey} FOR NO KEY UPDATE`.execute(trx);
}

export async function countSchedules(trx: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM account_schedules WHERE account_key = ${accountKey}`.execute(trx);
  return rows[0]?.count ?? 0;
}

export interface ScheduleSettings {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly appId: string;
  readonly trigger: string;
  readonly payload: string | null;
  readonly misfire: Misfire;
  /** `null` while it is paused. */
  readonly nextRunAt: Date | null;
  /** When that was found. */
  readonly plannedAt: Date;
}

export async function insertSchedule(
  trx: Executor,
  { id, accountKey, now }: { readonly id: ScheduleId; readonly accountKey: string; readonly now: Date },
  settings: ScheduleSettings,
): Promise<ScheduleRow | undefined> {
  const { name, cron, timeZone, appId, trigger, payload, misfire, nextRunAt, plannedAt } = settings;
  const { rows } = await sql<ScheduleRow>`
    INSERT INTO account_schedules (id, account_key, name, cron, time_zone, app_id, trigger_name, payload, enabled, misfire,
                                   next_run_at, planned_at, created_at)
    VALUES (${id}, ${accountKey}, ${name}, ${cron}, ${timeZone}, ${appId}, ${trigger}, ${payload}, ${nextRunAt !== null},
            ${misfire}, ${nextRunAt}, ${plannedAt}, ${now})
    RETURNING ${COLUMNS}`.execute(trx);
  return rows[0];
}

export async function updateSchedule(
  trx: Executor,
  id: ScheduleId,
  settings: ScheduleSettings,
): Promise<ScheduleRow | undefined> {
  const { name, cron, timeZone, appId, trigger, payload, misfire, nextRunAt, plannedAt } = settings;
  const { rows } = await sql<ScheduleRow>`
    UPDATE account_schedules
       SET name = ${name}, cron = ${cron}, time_zone = ${timeZone}, app_id = ${appId}, trigger_name = ${trigger},
           payload = ${payload}, enabled = ${nextRunAt !== null}, misfire = ${misfire}, next_run_at = ${nextRunAt},
           planned_at = ${plannedAt}
     WHERE id = ${id}
    RETURNING ${COLUMNS}`.execute(trx);
  return rows[0];
}

/** After the schedule of this id, oldest first. */
export async function selectSchedules(
  db: Executor,
  accountKey: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ScheduleRow[]> {
  const { rows } = await sql<ScheduleRow>`
    SELECT ${COLUMNS} FROM account_schedules
     WHERE account_key = ${accountKey} AND id > ${after} ORDER BY id LIMIT ${limit}`.execute(db);
  return rows;
}

export async function findSchedule(
  db: Executor,
  accountKey: string,
  id: ScheduleId,
  lock: 'lock' | 'read',
): Promise<ScheduleRow | undefined> {
  const { rows } = await sql<ScheduleRow>`
    SELECT ${COLUMNS} FROM account_schedules WHERE account_key = ${accountKey} AND id = ${id}
    ${lock === 'lock' ? sql`FOR NO KEY UPDATE` : sql``}`.execute(db);
  return rows[0];
}

/** With its runs. @returns whether there was one */
export async function deleteSchedule(db: Executor, accountKey: string, id: ScheduleId): Promise<boolean> {
  const { rows } = await sql`
    DELETE FROM account_schedules WHERE account_key = ${accountKey} AND id = ${id} RETURNING id`.execute(db);
  return rows.length > 0;
}
