// The signal of apps that apps made.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** One waits for its person, or does no longer. */
    'drafts-changed': { accountKey: string };
  }
}

export const signals = { 'drafts-changed': {} } satisfies OwnedSignals;
