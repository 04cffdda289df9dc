// The signals of this part: that there is web push to send.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** Web push messages wait in the outbox. */
    'push-queued': Record<string, never>;
  }
}

export const signals = {
  'push-queued': {},
} satisfies OwnedSignals;
