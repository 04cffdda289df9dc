// The signals of this part: that everything of an account stops or may run again.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** An account was paused, suspended or marked for its deletion, or no longer is. */
    'pause-changed': { accountKey: string };
  }
}

export const signals = {
  'pause-changed': {
    sentBy: { accounts: 'a suspension, and the deletion of an account, stop all of it as a pause does' },
  },
} satisfies OwnedSignals;
