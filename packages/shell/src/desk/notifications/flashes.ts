// The important records that wait to be seen: one is shown at a time, critical ones come first, and what was read,
// has expired or was muted meanwhile is shown no more.
import type { Notification } from '@platform/contract';
import { computed, signal } from '@preact/signals';
import { atExpiry, lifeOf } from './expiry.ts';
import { isOwnDoing } from './sender.tsx';
import { mayFlash } from './settings.ts';

/**
 * Limit on waiting flashes; others are in the inbox only. After a week away a person would have hundreds to dismiss.
 */
const WAITING = 20;

const queue = signal<readonly Notification[]>([]);

/** The record that is shown now. It stays until it is dealt with: nothing may take its place under the pointer. */
export const flash = computed<Notification | null>(() => queue.value[0] ?? null);
export const flashesWaiting = computed(() => Math.max(0, queue.value.length - 1));

function isDue(record: Notification): boolean {
  return record.readAt === null && lifeOf(record) > 0 && mayFlash(record) && !isOwnDoing(record);
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
  for (const record of added) atExpiry(record, () => dropFlashes(({ id }) => id === record.id));
}

export function dropFlashes(which: (record: Notification) => boolean): void {
  queue.value = queue.value.filter((record) => !which(record));
}

/** After the settings changed. */
export function dropUnwantedFlashes(): void {
  dropFlashes((record) => !isDue(record));
}
