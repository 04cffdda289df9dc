// How often a schedule runs, as the form offers it; the cron line of a choice, and the choice and the words of a line.

import { todaysName } from './zone-names.ts';

export type Repeats = 'hour' | 'day' | 'weekdays' | 'week' | 'month' | 'custom';

/** Every member as its field has it; those that a choice does not use wait for another. */
export interface When {
  readonly repeats: Repeats;
  /** 0 to 59, of `hour`. */
  readonly minute: string;
  /** 00:00 to 23:59, of all but `hour` and `custom`. */
  readonly time: string;
  /** 0 is Sunday, of `week`. */
  readonly weekday: string;
  /** 1 to 31, of `month`. */
  readonly date: string;
  /** Five fields, of `custom`. */
  readonly cron: string;
}

export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export const FIRST: When = { repeats: 'day', minute: '0', time: '08:00', weekday: '1', date: '1', cron: '0 8 * * *' };

export function cronOf({ repeats, minute, time, weekday, date, cron }: When): string {
  if (repeats === 'custom') return cron;
  if (repeats === 'hour') return `${minute} * * * *`;
  const [hours, minutes] = time.split(':').map(Number);
  const days = { day: '* * *', weekdays: '* * 1-5', week: `* * ${weekday}`, month: `${date} * *` };
  return `${minutes} ${hours} ${days[repeats]}`;
}

const HOURLY = /^(\d{1,2}) \* \* \* \*$/;
const DAILY = /^(\d{1,2}) (\d{1,2}) (\*|\d{1,2}) \* (\*|1-5|[0-6])$/;

export function whenOf(cron: string): When {
  const custom: When = { ...FIRST, repeats: 'custom', cron };
  const [, minute] = HOURLY.exec(cron) ?? [];
  if (minute !== undefined) return { ...custom, repeats: 'hour', minute: String(Number(minute)) };
  const [, minutes = '', hours = '', date, weekday] = DAILY.exec(cron) ?? [];
  const at = { ...custom, time: `${hours.padStart(2, '0')}:${minutes.padStart(2, '0')}` };
  if (date === undefined || weekday === undefined) return custom;
  if (date === '*' && weekday === '*') return { ...at, repeats: 'day' };
  if (date === '*') return weekday === '1-5' ? { ...at, repeats: 'weekdays' } : { ...at, repeats: 'week', weekday };
  return weekday === '*' ? { ...at, repeats: 'month', date: String(Number(date)) } : custom;
}

const EVERY_SOME_MINUTES = /^\*\/(\d{1,2}) \* \* \* \*$/;

/** Such as `Every day at 08:00`; of a line that is none of the usual ones, the line. */
export function wordsOf(cron: string): string {
  const { repeats, minute, time, weekday, date } = whenOf(cron);
  if (repeats === 'hour') return `Every hour, ${minute === '0' ? 'on the hour' : `${minute} min past`}`;
  if (repeats === 'day') return `Every day at ${time}`;
  if (repeats === 'weekdays') return `Monday to Friday at ${time}`;
  if (repeats === 'week') return `Every ${WEEKDAYS[Number(weekday)]} at ${time}`;
  if (repeats === 'month') return `Every month on day ${date} at ${time}`;
  if (/^\*(?:\/1)? \* \* \* \*$/.test(cron)) return 'Every minute';
  const [, minutes] = EVERY_SOME_MINUTES.exec(cron) ?? [];
  // Other numbers do not divide an hour: the line begins anew at each.
  if (minutes !== undefined && 60 % Number(minutes) === 0) return `Every ${minutes} minutes`;
  return `Cron line ${cron}`;
}

/** How the two fields of days of a cron line go together, where neither is just `*`. */
export function daysRuleOf(cron: string): string | null {
  const [, , date = '*', , weekday = '*'] = cron.trim().split(/\s+/);
  if (date === '*' || weekday === '*') return null;
  return /^\*/.test(date) || /^\*/.test(weekday)
    ? 'Runs on days that match both day fields, because one begins with *.'
    : 'Runs on days that match either day field.';
}

const LONG = {
  weekday: 'long',
  year: 'numeric',
  month: 'long',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
} as const;
const SHORT = { ...LONG, weekday: 'short', year: undefined, month: 'short' } as const;

/** A moment as the clock of a zone shows it, such as `Sunday, November 22, 2026 at 8:00 AM GMT+1`. */
export function timeIn(timeZone: string, iso: string, length: 'long' | 'short'): string {
  const parts = length === 'long' ? LONG : SHORT;
  try {
    return new Intl.DateTimeFormat(undefined, { ...parts, timeZone }).format(new Date(iso));
  } catch {
    // A zone that the platform knows and this browser does not.
    return new Intl.DateTimeFormat(undefined, parts).format(new Date(iso));
  }
}

/** Zones to choose from, by their names of today: those of this browser, and one that is chosen already. */
export function zones(chosen: string): readonly string[] {
  return [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', chosen].map(todaysName))].sort();
}

export function zoneHere(): string {
  return todaysName(new Intl.DateTimeFormat().resolvedOptions().timeZone);
}
