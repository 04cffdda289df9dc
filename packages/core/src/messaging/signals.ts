// The signal of messaging: that something changed for an account.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** A message or a conversation of the account is new or changed. */
    'messaging-changed': { readonly accountKey: string };
    /** A message or a request is to become a notification. */
    'message-noticed': Record<string, never>;
    /** The bridge is to forget an account. */
    'bridge-removal-queued': Record<string, never>;
  }
}

export const signals = {
  'messaging-changed': {},
  'message-noticed': {},
  'bridge-removal-queued': {},
} satisfies OwnedSignals;
