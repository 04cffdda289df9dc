// What the person decided about notifications, as this page knows it, and what that means for one record.
import type { Notification, NotificationSettings } from '@platform/contract';
import { signal } from '@preact/signals';
import { call } from '../api/client.ts';

/** `null` until the first answer. */
export const notificationSettings = signal<NotificationSettings | null>(null);

/** Reads them anew. @throws ApiError */
export async function readNotificationSettings(): Promise<NotificationSettings> {
  const settings = await call('notificationSettings.read');
  notificationSettings.value = settings;
  return settings;
}

/** Shown at once, and taken back when core refuses. `muted` is replaced as a whole, the rest stays. @throws ApiError */
export async function changeNotificationSettings(change: Partial<NotificationSettings>): Promise<NotificationSettings> {
  const former = notificationSettings.value;
  if (former !== null) notificationSettings.value = { ...former, ...change };
  try {
    const settings = await call('notificationSettings.change', { body: { ...change } });
    notificationSettings.value = settings;
    return settings;
  } catch (error) {
    notificationSettings.value = former;
    throw error;
  }
}

export function isMuted(settings: NotificationSettings, appId: string, topic: string | null): boolean {
  return settings.muted.some((mute) => mute.appId === appId && (mute.topic === null || mute.topic === topic));
}

/** Whether a record may appear on a surface. No until the settings are known: silence can be made up for, noise not. */
export function allows(surface: 'system' | 'flashes', record: Pick<Notification, 'appId' | 'topic'>): boolean {
  const settings = notificationSettings.value;
  if (settings === null || isMuted(settings, record.appId, record.topic)) return false;
  return settings[surface];
}
