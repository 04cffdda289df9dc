// The signals of this part: what ends the credential of an Ingress.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** An Ingress has another credential, or was removed. */
    'ingress-credential-replaced': { ingressId: string };
  }
}

export const signals = {
  'ingress-credential-replaced': {},
} satisfies OwnedSignals;
