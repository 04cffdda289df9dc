// The times of a schedule. The library decides which wall-clock times a cron line means; a wall-clock time happens once,
// whatever the zone's clock does: at the end of a gap, at the first of two.
import { limits, notValid } from '@platform/contract';
import { Cron } from 'croner';
import { type ZonedClock, zonedClock } from './zoned-clock.ts';

export interface Times {
  /** The first time after a moment; `null` when there is none any more. */
  nextAfter(moment: Date): Date | null;
}

/** @throws RefusalError `invalid_request` for a line that means nothing, has no time after `now`, or an unknown zone */
export function timesOf(schedule: { readonly cron: string; readonly timeZone: string }, now: Date): Times {
  const clock = zonedClock(schedule.timeZone);
  if (clock === undefined)
    throw invalid('timeZone', 'is not a known time zone; use one of the IANA database, such as Europe/Berlin');
  const times = timesIn(patternOf(schedule.cron), clock);
  if (times.nextAfter(now) === null) throw invalid('cron', 'has no time in the future');
  return times;
}

/** The next times after a moment, at most so many. */
export function listTimes(times: Times, after: Date, most: number = limits.schedulePreview.value): Date[] {
  const found: Date[] = [];
  for (let next = times.nextAfter(after); next !== null && found.length < most; next = times.nextAfter(next))
    found.push(next);
  return found;
}

const SPANS_MILLISECONDS = [3_600_000, 86_400_000, 32 * 86_400_000, 366 * 86_400_000];

/**
 * The newest time from `first`, which is one, to `now`. Looks back over longer and longer spans, so that a schedule of
 * every minute is not counted through from years ago.
 */
export function newestUntil(times: Times, first: Date, now: Date): Date {
  for (const span of SPANS_MILLISECONDS) {
    const start = new Date(now.getTime() - span);
    if (start <= first) break;
    const found = times.nextAfter(start);
    if (found !== null && found <= now) return lastFrom(times, found, now);
  }
  return lastFrom(times, first, now);
}

function lastFrom(times: Times, first: Date, now: Date): Date {
  let last = first;
  for (let next = times.nextAfter(last); next !== null && next <= now; next = times.nextAfter(next)) last = next;
  return last;
}

function patternOf(line: string): Cron {
  try {
    return new Cron(line, { mode: '5-part', domAndDow: needsBothDays(line), timezone: 'UTC', paused: true });
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^\w+: /, '') : 'unreadable';
    throw invalid('cron', `is not a cron line: ${why}`);
  }
}

/** The rule of Vixie cron: a day must match both of its fields when one of them begins with `*`, and else either. */
function needsBothDays(line: string): boolean {
  const [, , date = '', , weekday = ''] = line.split(' ');
  return date.startsWith('*') || weekday.startsWith('*');
}

function timesIn(pattern: Cron, clock: ZonedClock): Times {
  return {
    nextAfter(moment) {
      // In the second pass of an hour that happens twice its times are over: they are passed by.
      for (let wall = pattern.nextRun(new Date(clock.wallAt(moment.getTime()))); wall !== null; ) {
        const next = clock.momentOf(wall.getTime());
        if (next > moment.getTime()) return new Date(next);
        wall = pattern.nextRun(wall);
      }
      return null;
    },
  };
}

function invalid(path: string, message: string): Error {
  return notValid('The schedule', [{ path, message }]);
}
