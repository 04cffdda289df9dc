// The signals of this part: that the home screen is another.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** The tiles of the home screen were arranged. */
    'home-changed': { accountKey: string };
  }
}

export const signals = {
  'home-changed': {},
} satisfies OwnedSignals;
