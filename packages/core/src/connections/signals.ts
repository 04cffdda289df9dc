// The signal of this part.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** The connection of a client ended, and every token of it. */
    'connection-ended': { accountKey: string; connectionId: string };
  }
}

export const signals = { 'connection-ended': {} } satisfies OwnedSignals;
