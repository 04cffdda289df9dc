// Mirrors records as the browser's own notifications while this page is hidden: those that the person allowed in the
// account and in this browser, one per record however many tabs are open.
import type { Notification as NotificationRecord } from '@platform/contract';
import { signal } from '@preact/signals';
import { iconAtHand } from '../../apps/app-icons.ts';
import { findApp } from '../../apps/installed-apps.ts';
import { atExpiry, lifeOf } from './expiry.ts';
import { pushHere } from './push-here.ts';
import { senderName } from './sender.tsx';
import { mayMirror, notificationSettings } from './settings.ts';

export type BrowserPermission = NotificationPermission | 'unsupported';

function currentPermission(): BrowserPermission {
  return 'Notification' in globalThis ? Notification.permission : 'unsupported';
}

/** What this browser allows the page. */
export const browserPermission = signal<BrowserPermission>(currentPermission());

/** Only from a press of the person: browsers take a question out of the blue for an annoyance, and so do people. */
export async function askBrowserPermission(): Promise<void> {
  browserPermission.value = await Notification.requestPermission();
}

const shown = new Map<string, Notification>();

/** Shows the record if it is to be mirrored now; `open` is what a press on it does. */
export function mirror(record: NotificationRecord, open: () => void): void {
  if (record.delivery === 'inbox' || record.readAt !== null || !document.hidden) return;
  if (currentPermission() !== 'granted' || !mayMirror(record) || lifeOf(record) <= 0 || comesAsPush(record)) return;
  const notification = construct(record.title, {
    body: `${senderName(record)}${record.body === '' ? '' : `\n${record.body}`}`,
    // The browser shows one for each tag, whichever tab asked for it.
    tag: record.id,
    requireInteraction: record.priority === 'critical',
    ...iconOf(record.appId),
  });
  if (notification === null) return;
  shown.set(record.id, notification);
  atExpiry(record, () => notification.close());
  notification.addEventListener('close', () => shown.delete(record.id));
  notification.addEventListener('click', () => {
    window.focus();
    notification.close();
    open();
  });
}

/** The service worker of this browser shows it, whether or not a page is open: twice would be once too often. */
function comesAsPush({ delivery }: NotificationRecord): boolean {
  return delivery === 'inbox-and-web-push' && pushHere.value !== null && notificationSettings.value?.webPush === true;
}

function construct(title: string, options: NotificationOptions): Notification | null {
  try {
    return new Notification(title, options);
  } catch {
    // Chrome on Android has the constructor, and throws: there only a service worker may show notifications.
    browserPermission.value = 'unsupported';
    return null;
  }
}

function iconOf(appId: string): { icon?: string } {
  const path = findApp(appId)?.icon;
  const icon = path == null ? null : iconAtHand(path);
  return icon === null ? {} : { icon };
}

/** Read, here or elsewhere. */
export function endMirrored(isRead: (id: string) => boolean): void {
  for (const [id, notification] of shown) if (isRead(id)) notification.close();
}

const LISTENING = 'platform.listens-while-hidden';

/**
 * Of all hidden tabs one goes on listening, where there is something to mirror; when it is gone, another one takes its
 * place. `chosen` is called when this is the one, which it is until `shown` is aborted.
 */
export function listenWhileHidden(shown: AbortSignal, chosen: () => void): void {
  if (currentPermission() !== 'granted' || notificationSettings.value?.system !== true) return;
  navigator.locks
    .request(LISTENING, { signal: shown }, () => {
      chosen();
      return new Promise<void>((resolve) => shown.addEventListener('abort', () => resolve(), { once: true }));
    })
    .catch((error: unknown) => {
      // Looked at again before it was its turn.
      if (!shown.aborted) throw error;
    });
}
