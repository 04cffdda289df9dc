// The signals of this part: that an external index lags behind.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** Pending external-index updates. */
    'search-queued': Record<string, never>;
  }
}

export const signals = {
  'search-queued': {},
} satisfies OwnedSignals;
