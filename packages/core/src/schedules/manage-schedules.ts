// Schedules as the app that manages them sees and changes them.
import {
  type changeScheduleBody,
  type createScheduleBody,
  limits,
  notValid,
  type RouteQuery,
  refuse,
  type Schedule,
  type ScheduleId,
  type ScheduleTargetApp,
  scheduleId,
  sizeText,
} from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import { findTriggers, listTriggers } from '../installations/face.ts';
import { countRuns, insertRuns } from './run-queries.ts';
import {
  countSchedules,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  lockAccountForSchedule,
  type ScheduleRow,
  selectSchedules,
  updateSchedule,
} from './schedule-queries.ts';
import { listTimes, timesOf } from './times.ts';

/** Installed apps that a choice offers. */
const MOST_TARGETS = 1_000;
/** When a run is wanted while many wait; when the next of them ends nobody can tell. */
const RETRY_SECONDS = 30;

export async function listSchedules(
  { database, cursors }: CoreContext,
  accountKey: string,
  { limit, cursor }: RouteQuery<'services.schedules.list'>,
): Promise<{ items: Schedule[]; nextCursor: string | null }> {
  const list = `schedules:${accountKey}`;
  const after = cursor === undefined ? '' : String(cursors.decode(list, cursor));
  const rows = await selectSchedules(database, accountKey, { after, limit: limit + 1 });
  const items = rows.slice(0, limit).map(scheduleOf);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last !== undefined ? cursors.encode(list, last.id) : null };
}

/** @throws RefusalError `not_found` */
export async function readSchedule({ database }: CoreContext, accountKey: string, id: ScheduleId): Promise<Schedule> {
  return scheduleOf(required(await findSchedule(database, accountKey, id, 'read')));
}

/**
 * @throws RefusalError `invalid_request` for a line, zone or target that is none, `schedule_limit`, `payload_too_large`
 */
export async function createSchedule(
  context: CoreContext,
  accountKey: string,
  wanted: z.output<typeof createScheduleBody>,
): Promise<Schedule> {
  const now = context.clock();
  const { name, cron, timeZone, misfire, target, enabled } = wanted;
  const times = timesOf(wanted, now);
  const payload = storedPayload(wanted.payload);
  await requireTrigger(context, accountKey, target);
  const id = scheduleId.parse(newId('sch', context));
  const nextRunAt = enabled ? times.nextAfter(now) : null;
  const { appId, trigger } = target;
  const settings = { name, cron, timeZone, misfire, appId, trigger, payload, nextRunAt, plannedAt: now };
  return context.database.transaction().execute(async (trx) => {
    await lockAccountForSchedule(trx, accountKey);
    const most = limits.schedules.value;
    if ((await countSchedules(trx, accountKey)) >= most)
      throw refuse('schedule_limit', `An account has at most ${most} schedules. Delete one first.`);
    const row = await insertSchedule(trx, { id, accountKey, now }, settings);
    await notify(trx, 'schedules-changed', {});
    return scheduleOf(required(row));
  });
}

/** @throws RefusalError `not_found`, and as `createSchedule` */
export async function changeSchedule(
  context: CoreContext,
  { accountKey, id }: { readonly accountKey: string; readonly id: ScheduleId },
  change: z.output<typeof changeScheduleBody>,
): Promise<Schedule> {
  const now = context.clock();
  if (change.target !== undefined) await requireTrigger(context, accountKey, change.target);
  const given = change.payload === undefined ? undefined : storedPayload(change.payload);
  return context.database.transaction().execute(async (trx) => {
    const former = required(await findSchedule(trx, accountKey, id, 'lock'));
    const { cron = former.cron, timeZone = former.time_zone, enabled = former.enabled } = change;
    const isOther = cron !== former.cron || timeZone !== former.time_zone || !former.enabled;
    // What stays as it is keeps a time that is due and was not seen yet.
    const nextRunAt = enabled ? (isOther ? timesOf({ cron, timeZone }, now).nextAfter(now) : former.next_run_at) : null;
    if (!enabled && isOther) timesOf({ cron, timeZone }, now);
    const row = await updateSchedule(trx, id, {
      name: change.name ?? former.name,
      cron,
      timeZone,
      misfire: change.misfire ?? former.misfire,
      appId: change.target?.appId ?? former.app_id,
      trigger: change.target?.trigger ?? former.trigger_name,
      payload: given === undefined ? former.payload : given,
      nextRunAt,
      plannedAt: isOther ? now : former.planned_at,
    });
    await notify(trx, 'schedules-changed', {});
    return scheduleOf(required(row));
  });
}

/** @throws RefusalError `not_found` */
export async function removeSchedule({ database }: CoreContext, accountKey: string, id: ScheduleId): Promise<void> {
  if (!(await deleteSchedule(database, accountKey, id))) throw missing();
}

/** Has a schedule run now. @throws RefusalError `not_found`, `concurrency_limited` while too many of its runs wait */
export async function runNow(context: CoreContext, accountKey: string, id: ScheduleId): Promise<Schedule> {
  const now = context.clock();
  const schedule = await context.database.transaction().execute(async (trx) => {
    const row = required(await findSchedule(trx, accountKey, id, 'lock'));
    const most = limits.scheduleWaiting.value;
    if ((await countRuns(trx, id)) >= most)
      throw refuse('concurrency_limited', `${most} runs of this schedule wait for delivery.`, {
        retryAfter: RETRY_SECONDS,
      });
    const run = {
      id: newId('run', context),
      scheduleId: id,
      accountKey,
      scheduledFor: now,
      giveUpAt: giveUpAfter(now),
    };
    await insertRuns(trx, [run], now, 'hand');
    await notify(trx, 'schedules-changed', {});
    await context.at('schedules.run.committing');
    return scheduleOf(row);
  });
  await context.at('schedules.run.committed');
  return schedule;
}

/** @throws RefusalError `invalid_request` */
export function previewTimes(
  context: CoreContext,
  line: { readonly cron: string; readonly timeZone: string },
): string[] {
  const now = context.clock();
  return listTimes(timesOf(line, now), now).map((time) => time.toISOString());
}

export async function listTargets({ pool }: CoreContext, accountKey: string): Promise<ScheduleTargetApp[]> {
  const rows = await listTriggers(pool, accountKey, MOST_TARGETS);
  return rows.map(({ app_id, name, triggers }) => ({
    appId: app_id,
    name,
    triggers: triggers.map((trigger) => trigger.name),
  }));
}

/** Until when a run that begins now is tried again. */
export function giveUpAfter(now: Date): Date {
  return new Date(now.getTime() + limits.scheduleRetrySeconds.value * 1_000);
}

/** @throws RefusalError `invalid_request` */
async function requireTrigger(
  { pool }: CoreContext,
  accountKey: string,
  { appId, trigger }: { readonly appId: string; readonly trigger: string },
): Promise<void> {
  const app = await findTriggers(pool, accountKey, appId);
  const wrong = (path: string, message: string) => notValid('The schedule', [{ path, message }]);
  if (app === undefined) throw wrong('target.appId', 'is not an installed app');
  if (!app.triggers.some(({ name }) => name === trigger))
    throw wrong('target.trigger', `is not among the triggers that ${appId} declares`);
}

/** @throws RefusalError `payload_too_large` */
function storedPayload(payload: object | null | undefined): string | null {
  if (payload === null || payload === undefined) return null;
  const text = JSON.stringify(payload);
  const bytes = Buffer.byteLength(text);
  const most = limits.schedulePayload.value;
  if (bytes > most)
    throw refuse(
      'payload_too_large',
      `The payload has ${sizeText(bytes, Math.ceil)} of compact JSON, and may have ${sizeText(most)}.`,
    );
  return text;
}

function scheduleOf(row: ScheduleRow): Schedule {
  const { last_at, last_outcome, last_detail } = row;
  return {
    id: row.id,
    name: row.name,
    cron: row.cron,
    timeZone: row.time_zone,
    target: { appId: row.app_id, trigger: row.trigger_name },
    ...(row.payload === null ? {} : { payload: JSON.parse(row.payload) }),
    enabled: row.enabled,
    misfire: row.misfire,
    nextRunAt: row.next_run_at?.toISOString() ?? null,
    lastRun:
      last_at === null || last_outcome === null
        ? null
        : {
            at: last_at.toISOString(),
            outcome: last_outcome,
            ...(last_detail === null ? {} : { detail: last_detail }),
          },
  };
}

function required(row: ScheduleRow | undefined): ScheduleRow {
  if (row === undefined) throw missing();
  return row;
}

function missing(): Error {
  return refuse('not_found', 'There is no such schedule, or it was deleted.');
}
