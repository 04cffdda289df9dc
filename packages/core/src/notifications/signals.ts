// The signals of this part: that there are notifications, or what they may do changed.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** `sequence`: the newest of those that were published together. */
    'notification-published': { accountKey: string; sequence: string };
    /** `ids` null: all of the account. */
    'notifications-read': { accountKey: string; ids: string[] | null };
    /** Its owner changed what notifications may do. */
    'notification-settings-changed': { accountKey: string };
  }
}

export const signals = {
  'notification-published': {},
  'notifications-read': {},
  'notification-settings-changed': {},
} satisfies OwnedSignals;
