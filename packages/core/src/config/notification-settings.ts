// How long and how many notifications are kept.
import type { CoreConfig } from './config.ts';
import { integerOf, type Read } from './variables.ts';

export type NotificationSettings = Pick<CoreConfig, 'notificationDays' | 'notificationsKept'>;

export function readNotificationSettings(read: Read): NotificationSettings {
  return {
    notificationDays: integerOf(read, 'PLATFORM_NOTIFICATION_DAYS', 1, 36_500),
    notificationsKept: integerOf(read, 'PLATFORM_NOTIFICATIONS_KEPT', 1, 1_000_000),
  };
}
