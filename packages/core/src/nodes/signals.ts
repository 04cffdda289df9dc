// The signals of this part: what ends the credential of a node.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** A node has another credential, or was removed. */
    'node-credential-replaced': { nodeId: string };
  }
}

export const signals = {
  'node-credential-replaced': {},
} satisfies OwnedSignals;
