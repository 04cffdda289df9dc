// The signals of content.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** Its items, or who may read them. */
    'content-changed': { collectionId: string };
    /** An invitation waits for the account, or does no longer. */
    'content-invitations-changed': { accountKey: string };
    /** Somebody is to be notified. */
    'content-noticed': Record<string, never>;
  }
}

export const signals = {
  'content-changed': {},
  'content-invitations-changed': {},
  'content-noticed': {},
} satisfies OwnedSignals;
