// The moments of a workflow at which something can be killed: of each call that changes one, from the app to the commit
// and back, and of an effect.

/** What the app process is to run. */
export interface Order {
  readonly kind: 'order' | 'slow' | 'cancelled';
  /** Idempotency key of the run. */
  readonly key: string;
}

/** How a run ended, as the app saw it. */
export interface Ended {
  readonly key: string;
  readonly result?: string[];
  /** A code. */
  readonly error?: string;
}

/** The calls, by the names of core's points, and a kind of run that makes each. */
export const CALLS = {
  create: 'order',
  claim: 'order',
  renew: 'slow',
  settle: 'order',
  complete: 'order',
  cancel: 'cancelled',
} as const satisfies Record<string, Order['kind']>;
export type Call = keyof typeof CALLS;

/** In their order: in the app, before core, in core around its commit, before the Gateway, in the app. */
export const PLACES = ['sent', 'forwarded', 'committing', 'committed', 'answered', 'received'] as const;
type Place = (typeof PLACES)[number];
type CallMoment = `${Call} ${Place}`;
export const EFFECTS = ['effect begins', 'effect ended'] as const;
export type Moment = CallMoment | (typeof EFFECTS)[number];

export interface PlacedMoment {
  readonly moment: Moment;
  readonly kind: Order['kind'];
}

/** All of them. */
export const MOMENTS: readonly PlacedMoment[] = [
  ...EFFECTS.map((moment) => ({ moment, kind: 'order' as const })),
  ...(Object.keys(CALLS) as Call[]).flatMap((call) =>
    PLACES.map((place) => ({ moment: `${call} ${place}` as const, kind: CALLS[call] })),
  ),
];

/** Which call a request is; `null` for one that changes nothing. */
export function callOf(method: string, path: string): Call | null {
  const below = /\/services\/workflows(.*)$/.exec(path)?.[1];
  if (below === undefined) return null;
  if (method === 'DELETE') return 'cancel';
  if (method !== 'POST') return null;
  if (below === '') return 'create';
  if (below.endsWith('/claim')) return 'claim';
  if (below.endsWith('/renew')) return 'renew';
  return below.includes('/activities/') ? 'settle' : 'complete';
}
