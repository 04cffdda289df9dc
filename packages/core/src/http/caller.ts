// The one value that says who is calling, made in one place (callers/authenticate.ts) from exactly one credential. Each
// domain adds the kinds of callers whose credentials it keeps, in the file of their scheme (callers/scheme.ts).
import type { CallerKind, RouteId, routes } from '@platform/contract';

/** By their kind. */
export interface CallerKinds {
  anonymous: AnonymousCaller;
}

export interface AnonymousCaller {
  readonly kind: 'anonymous';
}

export type Caller = CallerKinds[keyof CallerKinds];

/** Those of an account: a person, its apps, its command lines. */
export type AccountCaller = Extract<Caller, { readonly accountKey: string }>;

type KindsOf<Id extends RouteId> = (typeof routes)[Id]['callers'][number] & CallerKind;
/** The callers a route can see: whatever its table entry names, nothing else. */
export type CallerOf<Id extends RouteId> = Extract<Caller, { kind: KindsOf<Id> }>;
