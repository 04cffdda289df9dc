// What the person decided about notifications, as this page knows it, and what that means for one record.
import {
  type Notification,
  type NotificationSettings,
  type NotificationSettingsChange,
  PLATFORM_SENDER,
} from '@platform/contract';
import { signal } from '@preact/signals';
import { call } from '../../api/client.ts';
import { changedSettings } from './changed-settings.ts';

/** `null` until the first answer. */
export const notificationSettings = signal<NotificationSettings | null>(null);

let latestReading: Promise<NotificationSettings | null> = Promise.resolve(null);

/** Reads them anew. @throws ApiError */
export async function readNotificationSettings(): Promise<NotificationSettings> {
  const reading = call('notificationSettings.read');
  latestReading = reading;
  const settings = await reading;
  // Answers may come in any order: only the one to the last question counts.
  if (latestReading === reading) notificationSettings.value = settings;
  return settings;
}

/** Once no answer is on its way: what arrives after a change is presented as that says. */
export async function settledNotificationSettings(): Promise<void> {
  let awaited: typeof latestReading;
  do {
    awaited = latestReading;
    await awaited.catch(() => undefined);
  } while (awaited !== latestReading);
}

/** Shown at once, and taken back when core refuses. @throws ApiError */
export async function changeNotificationSettings(change: NotificationSettingsChange): Promise<NotificationSettings> {
  const former = notificationSettings.value;
  const hoped = former === null ? null : changedSettings(former, change);
  notificationSettings.value = hoped;
  try {
    const settings = await call('notificationSettings.change', { body: change });
    notificationSettings.value = settings;
    return settings;
  } catch (error) {
    // Unless it was changed once more, or read anew, in the meantime.
    if (notificationSettings.value === hoped) notificationSettings.value = former;
    throw error;
  }
}

export function isMuted(settings: NotificationSettings, appId: string, topic: string | null): boolean {
  return settings.muted.some((mute) => mute.appId === appId && (mute.topic === null || mute.topic === topic));
}

type Addressed = Pick<Notification, 'appId' | 'topic' | 'priority'>;

/** Whether a record may appear anywhere but in the inbox. No until the settings are known: silence can be made up for. */
export function isAudible(record: Addressed): boolean {
  const settings = notificationSettings.value;
  return settings !== null && !isMuted(settings, record.appId, record.topic);
}

/** Whether the browser may show a record for this page. */
export function mayMirror(record: Addressed): boolean {
  return isAudible(record) && notificationSettings.value?.system === true;
}

/** Whether a record stays above every app until it is dealt with. Nothing silences a critical one, or one of the platform. */
export function mayFlash(record: Addressed): boolean {
  if (record.priority === 'critical') return true;
  if (record.priority !== 'high') return false;
  return record.appId === PLATFORM_SENDER || (isAudible(record) && notificationSettings.value?.flashes === true);
}
