// The signals of the wallet.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** What is proposed to an account, its limits or its balance. */
    'wallet-changed': { accountKey: string };
    'wallet-notice-queued': Record<never, never>;
  }
}

export const signals = { 'wallet-changed': {}, 'wallet-notice-queued': {} } satisfies OwnedSignals;
