// The signals of this part: that there are notifications, or what they may do changed.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** `sequence`: the newest of those that were published together. */
    'notification-published': { accountKey: string; sequence: string };
    /** `ids` null: all of the account. */
    'notifications-read': { accountKey: string; ids: string[] | null };
    /** There are security notices to publish. */
    'security-notice-queued': Record<string, never>;
    /** Its owner changed what notifications may do. */
    'notification-settings-changed': { accountKey: string };
  }
}

export const signals = {
  'notification-published': {},
  'notifications-read': {},
  'security-notice-queued': {},
  'notification-settings-changed': {},
} satisfies OwnedSignals;
