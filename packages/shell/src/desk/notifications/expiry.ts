// When the presentation of a record ends. The record itself stays in the inbox.
import type { Notification } from '@platform/contract';

/** Timers of browsers hold 31 bits of milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds that its presentation still has; `Infinity` without an end, at most 0 when it has ended. */
export function lifeOf({ expiresAt }: Notification): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.now();
}

/** Calls `end` when the presentation of the record ends, if it does. */
export function atExpiry(record: Notification, end: () => void): void {
  const life = lifeOf(record);
  if (life !== Number.POSITIVE_INFINITY) setTimeout(end, Math.min(life, LONGEST_TIMER_MS));
}
