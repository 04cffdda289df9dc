// Makes runs of schedules whose time has come. Replicas share this: one that finds a schedule locked leaves it to the
// other, and the runs and the next time are written together, so that no time is lost and none counts twice.
import { limits, type Misfire, RefusalError } from '@platform/contract';
import type { LeasedWork } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { giveUpAfter } from './manage-schedules.ts';
import {
  type Advance,
  advanceSchedules,
  type DueRow,
  insertRuns,
  lockDue,
  type NewRun,
  nextScheduleDue,
} from './run-queries.ts';
import { newestUntil, type Times, timesOf } from './times.ts';

/** In one transaction. */
const AT_ONCE = 200;
const MISSED = 'Missed while the platform was not running or the account was paused.';

/** Has nothing to work on besides what claiming does, which is one transaction. */
export function firingWork(context: CoreContext): LeasedWork<never> {
  return {
    name: 'schedules',
    wakeOn: 'schedules-changed',
    slots: 1,
    leaseMilliseconds: 1,
    async claim() {
      while ((await fireDue(context)) === AT_ONCE && !context.stopping.aborted);
      return [];
    },
    run: () => Promise.resolve(),
    nextDue: () => nextScheduleDue(context.database),
  };
}

/** @returns how many schedules were due */
async function fireDue(context: CoreContext): Promise<number> {
  const now = context.clock();
  const due = await context.database.transaction().execute(async (trx) => {
    const rows = await lockDue(trx, now, AT_ONCE);
    if (rows.length === 0) return 0;
    const planned = rows.map((row) => planOrPause(context, row, now));
    const runs = planned.flatMap((plan) => plan.runs);
    if (runs.length > 0) await insertRuns(trx, runs, now, 'clock');
    await advanceSchedules(
      trx,
      planned.map(({ advance }) => advance),
      now,
    );
    if (runs.length > 0) await notify(trx, 'schedules-changed', {});
    await context.at('schedules.fire.committing');
    return rows.length;
  });
  if (due > 0) await context.at('schedules.fire.committed');
  return due;
}

interface Plan {
  readonly runs: readonly NewRun[];
  readonly advance: Advance;
}

/** One schedule whose times cannot be found is paused; the others go on. */
function planOrPause({ log }: CoreContext, row: DueRow, now: Date): Plan {
  try {
    return planOf(row, now);
  } catch (error) {
    // It was valid when it was stored: the time zone data or the library changed.
    if (!(error instanceof RefusalError)) log.error({ err: error, schedule: row.id }, 'a schedule has no times');
    const outcome = { outcome: 'failed', detail: endedBy(error) } as const;
    return { runs: [], advance: { id: row.id, nextRunAt: null, outcome } };
  }
}

function planOf(row: DueRow, now: Date): Plan {
  const { id, misfire, next_run_at: nextRunAt } = row;
  const times = timesOf({ cron: row.cron, timeZone: row.time_zone }, now);
  const { due, missed } = dueTimes(times, { nextRunAt, misfire, now });
  const room = Math.max(0, limits.scheduleWaiting.value - row.waiting);
  const runs = due.slice(0, room).map((time) => newRun(row, time, now));
  const skipped = (detail: string) => ({ outcome: 'skipped', detail }) as const;
  const outcome =
    due.length > room
      ? skipped(`${limits.scheduleWaiting.value} runs wait for delivery already.`)
      : missed && due.length === 0
        ? skipped(MISSED)
        : null;
  return { runs, advance: { id, nextRunAt: times.nextAfter(now), outcome } };
}

function endedBy(error: unknown): string {
  if (!(error instanceof RefusalError)) return 'The platform could not compute its next time and paused it.';
  const [reason] = error.refusal.errors ?? [];
  if (reason?.path === 'timeZone') return 'The platform no longer knows its time zone and paused it.';
  return 'Its cron line has no future time any more, so the platform paused it.';
}

/** The id belongs to the time, so that a time that comes again, by a clock that went back, has the same key. */
function newRun({ id, account_key }: DueRow, scheduledFor: Date, now: Date): NewRun {
  return {
    id: `${id.replace('sch-', 'run-')}-${scheduledFor.getTime() / 1_000}`,
    scheduleId: id,
    accountKey: account_key,
    scheduledFor,
    giveUpAt: giveUpAfter(now),
  };
}

/**
 * Which times of a schedule get a run: those that came since it was last looked at. Of those that were missed, `once`
 * makes the newest up for all, and `skip` none.
 */
export function dueTimes(
  times: Times,
  { nextRunAt, misfire, now }: { readonly nextRunAt: Date; readonly misfire: Misfire; readonly now: Date },
): { readonly due: readonly Date[]; readonly missed: boolean } {
  // The clock went back: what is next lies ahead.
  if (nextRunAt > now) return { due: [], missed: false };
  const late = new Date(now.getTime() - limits.scheduleLateSeconds.value * 1_000);
  const missed = nextRunAt < late;
  const due: Date[] = [];
  let next = missed ? times.nextAfter(late) : nextRunAt;
  for (; next !== null && next <= now; next = times.nextAfter(next)) due.push(next);
  if (missed && due.length === 0 && misfire === 'once') return { due: [newestUntil(times, nextRunAt, now)], missed };
  return { due, missed };
}
