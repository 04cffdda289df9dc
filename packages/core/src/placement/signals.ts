// The signals of this part: that nodes have something else to run.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** The list of assignments has a new revision. */
    'assignments-changed': Record<string, never>;
    /** A workload start replaced the core service credential. */
    'credential-replaced': { installationId: string };
  }
}

export const signals = {
  'assignments-changed': {},
  'credential-replaced': {},
} satisfies OwnedSignals;
