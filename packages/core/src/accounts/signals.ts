// The signals of this part: what ends or was changed of the credentials of an account.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** A session ended (or all of an account, when `sessionId` is null). */
    'session-ended': { accountKey: string; sessionId: string | null };
    /** The token of a command line ended. */
    'author-token-ended': { accountKey: string; tokenId: string };
    /** At the console an account was made the master, or that was taken back. */
    'master-changed': { accountKey: string; name: string; named: boolean };
  }
}

export const signals = {
  'session-ended': {},
  'author-token-ended': {},
  'master-changed': {},
} satisfies OwnedSignals;
