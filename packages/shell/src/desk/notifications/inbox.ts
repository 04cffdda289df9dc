// The account's notifications as the shell shows them: the newest records, which are unread, and live news.
import type { Notification } from '@platform/contract';
import { computed, signal } from '@preact/signals';
import { plainMessage } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { showToast } from '../toasts/toasts.ts';
import { lifeOf } from './expiry.ts';
import { dropFlashes, dropUnwantedFlashes, offerFlashes } from './flashes.ts';
import { endMirrored, mirror } from './mirror.ts';
import { closePushed } from './push-here.ts';
import { isOwnDoing, openSender, senderName } from './sender.tsx';
import { isAudible, mayFlash, readNotificationSettings, settledNotificationSettings } from './settings.ts';

/** More unread records than this are shown as "99+" anyway. */
const UNREAD_COUNTED = 200;

/** `null` until the first answer. */
export const notifications = signal<readonly Notification[] | null>(null);
export const olderCursor = signal<string | null>(null);
export const inboxFailure = signal<string | null>(null);
const unreadIds = signal<ReadonlySet<string>>(new Set());
export const unreadCount = computed(() => unreadIds.value.size);

/** News so far: lists that were asked for before the last of it may not know it. */
let newsCount = 0;
/** However much comes in meanwhile, a list is shown at last. */
const READINGS = 3;

function readLists() {
  return Promise.all([
    call('notifications.list', { query: { limit: 50 } }),
    call('notifications.list', { query: { limit: UNREAD_COUNTED, unread: 'true' } }),
    readNotificationSettings(),
  ]);
}

/** Reads the first page, the unread count and what notifications may do anew. */
export async function readInbox(): Promise<void> {
  try {
    let asked = newsCount;
    let lists = await readLists();
    for (let reading = 1; reading < READINGS && asked !== newsCount; reading += 1) {
      asked = newsCount;
      lists = await readLists();
    }
    const [page, unread] = lists;
    notifications.value = page.items;
    olderCursor.value = page.nextCursor;
    unreadIds.value = new Set(unread.items.map(({ id }) => id));
    inboxFailure.value = null;
    const stillUnread = unreadIds.value;
    dropFlashes(({ id }) => !stillUnread.has(id));
    offerFlashes(unread.items);
  } catch (error) {
    inboxFailure.value = plainMessage(error);
  }
}

/** The person changed what notifications may do, here or elsewhere. */
export async function followNotificationSettings(): Promise<void> {
  try {
    await readNotificationSettings();
    dropUnwantedFlashes();
  } catch (error) {
    inboxFailure.value = plainMessage(error);
  }
}

export async function readOlder(): Promise<void> {
  const cursor = olderCursor.value;
  if (cursor === null) return;
  const page = await call('notifications.list', { query: { limit: 50, cursor } });
  notifications.value = [...(notifications.value ?? []), ...page.items];
  olderCursor.value = page.nextCursor;
}

function replace(changed: Notification): void {
  notifications.value = notifications.value?.map((record) => (record.id === changed.id ? changed : record)) ?? null;
}

/** Applies core's event that records were read, here or elsewhere; `null` means all of them. */
export function applyRead(ids: readonly string[] | null): void {
  newsCount += 1;
  const readAt = new Date().toISOString();
  const isRead = (id: string) => ids === null || ids.includes(id);
  unreadIds.value = new Set([...unreadIds.value].filter((id) => !isRead(id)));
  dropFlashes(({ id }) => isRead(id));
  endMirrored(isRead);
  void closePushed(isRead);
  notifications.value =
    notifications.value?.map((record) =>
      record.readAt === null && isRead(record.id) ? { ...record, readAt } : record,
    ) ?? null;
}

export async function markRead(id: string): Promise<Notification> {
  const { notification } = await call('notifications.read', { params: { id }, body: {} });
  applyRead([id]);
  replace(notification);
  return notification;
}

export async function markAllRead(): Promise<number> {
  const { updated } = await call('notifications.readAll', { body: {} });
  applyRead(null);
  return updated;
}

/** Opens what sent the record, at the place one of its actions names, and marks it read. */
export function openNotification(record: Notification, target: string | null): void {
  openSender(record, target);
  dismissNotification(record);
}

/** Seen: marked read, which ends its flash in every browser of the account. */
export function dismissNotification(record: Notification): void {
  dropFlashes(({ id }) => id === record.id);
  if (record.readAt !== null) return;
  markRead(record.id).catch((error: unknown) => {
    showToast({ title: 'The notification is still unread', body: plainMessage(error), tone: 'danger' });
  });
}

/** A record that has just been published. */
export function receive(record: Notification): void {
  newsCount += 1;
  if (notifications.value?.some(({ id }) => id === record.id)) {
    replace(record);
    return;
  }
  notifications.value = [record, ...(notifications.value ?? [])];
  if (record.readAt !== null) return;
  unreadIds.value = new Set([...unreadIds.value, record.id]);
  void settledNotificationSettings().then(() => present(record));
}

/** As the settings want it, unless it was read meanwhile or is about what was done here. */
function present(record: Notification): void {
  if (!unreadIds.value.has(record.id) || isOwnDoing(record)) return;
  offerFlashes([record]);
  mirror(record, () => openNotification(record, record.presentation?.actions[0]?.target ?? null));
  if (isCard(record)) showCard(record);
}

/** Appears for a moment at the edge of the page. A critical one always flashes instead. */
function isCard(record: Notification): boolean {
  const { delivery, priority } = record;
  if (delivery === 'inbox' || priority === 'low') return false;
  return !mayFlash(record) && isAudible(record) && lifeOf(record) > 0;
}

function showCard(record: Notification): void {
  showToast({
    title: record.title,
    isNotification: true,
    lifeMs: lifeOf(record),
    body: `${senderName(record)}${record.body === '' ? '' : ` — ${record.body}`}`,
    action: { label: 'Open', run: () => openNotification(record, null) },
  });
}
