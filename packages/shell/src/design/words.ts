// Times, counts and sizes as people read them. The platform speaks English, so these do too.

export { MiB, sizeText } from '@platform/contract/sizes';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long', year: 'numeric' });
const clockTime = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
});
const full = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'medium' });

/** "3 minutes ago", and the date once it is more than a week. */
export function ago(timestamp: string, now: Date = new Date()): string {
  const seconds = Math.round((new Date(timestamp).getTime() - now.getTime()) / 1000);
  const distance = Math.abs(seconds);
  if (distance < 45) return 'just now';
  if (distance < HOUR) return relative.format(Math.round(seconds / MINUTE), 'minute');
  if (distance < DAY) return relative.format(Math.round(seconds / HOUR), 'hour');
  if (distance < 7 * DAY) return relative.format(Math.round(seconds / DAY), 'day');
  return day.format(new Date(timestamp));
}

export function onDay(timestamp: string): string {
  return day.format(new Date(timestamp));
}

export function atTime(timestamp: string): string {
  return clockTime.format(new Date(timestamp));
}

export function inFull(timestamp: string): string {
  return full.format(new Date(timestamp));
}

/** A version without its build part, which means nothing to people: `1.0.0+7a37a364f45e` is `1.0.0`. */
export function shortVersion(version: string): string {
  return version.split('+')[0] ?? version;
}

/** Whether one version comes before another, by the three numbers that people go by. */
export function isOlder(version: string, other: string): boolean {
  const numbers = (text: string) => text.split(/[-+]/, 1).join().split('.').map(Number);
  const [one, two] = [numbers(version), numbers(other)];
  const at = one.findIndex((number, index) => number !== two[index]);
  return at !== -1 && (one[at] ?? 0) < (two[at] ?? 0);
}

/** `1 app`, `2 apps`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `34 seconds`, `3 minutes`: one unit, the largest that is filled. */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1_000;
  if (seconds < MINUTE) {
    const text = short(seconds);
    return `${text} second${text === '1' ? '' : 's'}`;
  }
  if (seconds < HOUR) return count(Math.floor(seconds / MINUTE), 'minute');
  if (seconds < DAY) return count(Math.floor(seconds / HOUR), 'hour');
  return count(Math.floor(seconds / DAY), 'day');
}

function short(value: number): string {
  return value < 9.95 ? String(Number(value.toFixed(1))) : String(Math.round(value));
}
