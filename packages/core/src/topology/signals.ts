// The signals of this part: that public names lead elsewhere.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** The topology of public names has a new revision. */
    'topology-changed': Record<string, never>;
  }
}

export const signals = {
  'topology-changed': { sentBy: { placement: 'at the start, what the configuration says of nodes may have changed' } },
} satisfies OwnedSignals;
