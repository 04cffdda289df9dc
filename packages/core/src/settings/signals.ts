// The signal of this part: what the master account set in Fleet is another.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    'settings-changed': Record<string, never>;
  }
}

export const signals = { 'settings-changed': {} } satisfies OwnedSignals;
