// The signals of this part: how far nodes and Ingresses are.
import type { OwnedSignals } from '../database/signals.ts';

declare module '../database/signals.ts' {
  interface SignalMap {
    /** A follower has carried out this revision: a node of the assignments, an Ingress of the topology. */
    'carried-out': { follows: 'assignments' | 'topology'; followerId: string; revision: string };
  }
}

export const signals = {
  'carried-out': {},
} satisfies OwnedSignals;
