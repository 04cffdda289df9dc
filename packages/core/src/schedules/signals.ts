// The signals of this part: that there is something to fire or to deliver.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** When a schedule is due changed, or runs wait for delivery. */
    'schedules-changed': Record<string, never>;
  }
}

export const signals = {
  'schedules-changed': {},
} satisfies OwnedSignals;
