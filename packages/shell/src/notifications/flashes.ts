// The important records that wait to be seen: one is shown at a time, critical ones come first, and what was read,
// has expired or was muted meanwhile is shown no more.
import type { Notification } from '@platform/contract';
import { computed, signal } from '@preact/signals';
import { allows } from './settings.ts';

/**
 * Limit on waiting flashes; others are in the inbox only. After a week away a person would have hundreds to dismiss.
 */
const WAITING = 20;
/** Timers of browsers hold 31 bits of milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const queue = signal<readonly Notification[]>([]);

/** The record that is shown now. It stays until it is dealt with: nothing may take its place under the pointer. */
export const flash = computed<Notification | null>(() => queue.value[0] ?? null);
export const flashesWaiting = computed(() => Math.max(0, queue.value.length - 1));

export function isImportant({ priority }: Notification): boolean {
  return priority === 'high' || priority === 'critical';
}

function isDue(record: Notification): boolean {
  const expired = record.expiresAt !== null && Date.parse(record.expiresAt) <= Date.now();
  return record.readAt === null && !expired && isImportant(record) && allows('flashes', record);
}

/** Adds those that are to be seen, once each. */
export function offerFlashes(records: readonly Notification[]): void {
  const [shown, ...waiting] = queue.value;
  const known = new Set(queue.value.map(({ id }) => id));
  const added = records.filter((record) => isDue(record) && !known.has(record.id));
  if (added.length === 0) return;
  const rank = ({ priority }: Notification) => (priority === 'critical' ? 0 : 1);
  const next = [...waiting, ...added].sort((one, other) => rank(one) - rank(other)).slice(0, WAITING);
  queue.value = shown === undefined ? next : [shown, ...next];
  for (const { id, expiresAt } of added) if (expiresAt !== null) dropAt(id, Date.parse(expiresAt));
}

function dropAt(id: string, expires: number): void {
  setTimeout(() => dropFlashes((record) => record.id === id), Math.min(expires - Date.now(), LONGEST_TIMER_MS));
}

export function dropFlashes(which: (record: Notification) => boolean): void {
  queue.value = queue.value.filter((record) => !which(record));
}

/** After the settings changed. */
export function dropUnwantedFlashes(): void {
  dropFlashes((record) => !isDue(record));
}
