// What a domain of core is to the rest of it. Adding one is its folder, its file in the contract, and its lines in domains.ts.
import type { CallerKind, coreMetrics, RouteId } from '@platform/contract';
import type { JobKind } from './background/jobs.ts';
import type { BuiltInTool } from './built-in-tool.ts';
import type { Emission } from './events/emission.ts';
import type { AnyScheme, CallerSchemes, PresentedKind } from './http/callers/scheme.ts';
import type { Handlers, HandlersOf } from './http/handlers.ts';
import type { Hooks } from './lifecycle.ts';
import type { OpensPart } from './opened.ts';
import type { PolicyPart } from './policy.ts';

/** @typeParam Kind of callers whose credentials it keeps */
export type Domain<Id extends RouteId, Kind extends PresentedKind = never> = DomainParts<Id> &
  ([Kind] extends [never] ? unknown : { readonly callers: CallerSchemes<Kind> });

export interface DomainParts<Id extends RouteId> extends Hooks {
  readonly handlers: HandlersOf<Id>;
  /** Before core answers, in the order of the domains; it may change the database. @throws StartError to refuse the start */
  starting?(): Promise<void>;
  /** The operator had the files read again that can change while core runs. @throws StartError for one that is wrong */
  reloaded?(): Promise<void>;
  /** What signals mean for the live streams of their account; in the order in which streams send them. */
  readonly emits?: readonly Emission[];
  /** Background work. Started in the order of the domains once core answers, stopped in the reverse order. */
  readonly workers?: readonly Worker[];
  /** What goes on after the request that began it. Worked on by workers of core's own, after those of the domain. */
  readonly jobs?: readonly JobKind<string>[];
  /** Its members of what an installation may do on its node (policy.ts). */
  readonly policy?: PolicyPart;
  /** Counts what the permissions open that it asks for. */
  readonly opens?: OpensPart;
  readonly gauges?: readonly Gauge[];
  /** Routes of it that are tools as well. */
  readonly tools?: readonly BuiltInTool[];
}

export interface Worker {
  /** Returns at once; what goes wrong later is logged and tried again. */
  start(): void;
  /** Resolves when nothing of it runs any more, within a few seconds. */
  stop(): Promise<void>;
}

/** A gauge without labels. */
export interface Gauge {
  readonly name: keyof typeof coreMetrics;
  /** Called whenever the metrics are read. */
  readonly read: () => number | Promise<number>;
}

type RoutesOf<One> = One extends { readonly handlers: infer Some } ? keyof Some & RouteId : never;

type HandledTwice<All, Seen = never> = All extends readonly [infer One, ...infer Rest]
  ? (RoutesOf<One> & Seen) | HandledTwice<Rest, Seen | RoutesOf<One>>
  : never;

type EachRouteOnce<All extends readonly Domain<never>[]> = [Exclude<RouteId, RoutesOf<All[number]>>] extends [never]
  ? [HandledTwice<All>] extends [never]
    ? unknown
    : { readonly 'these routes have two handlers': HandledTwice<All> }
  : { readonly 'these routes have no handler': Exclude<RouteId, RoutesOf<All[number]>> };

/** The handlers of all domains. Does not compile unless every route of the contract has exactly one. */
export function handlersOf<const All extends readonly Domain<never>[]>(domains: All & EachRouteOnce<All>): Handlers {
  return Object.assign({}, ...domains.map(({ handlers }) => handlers));
}

type KindsOf<One> = One extends { readonly callers: infer Some } ? keyof Some & CallerKind : never;

type FoundTwice<All, Seen = never> = All extends readonly [infer One, ...infer Rest]
  ? (KindsOf<One> & Seen) | FoundTwice<Rest, Seen | KindsOf<One>>
  : never;

type EachKindOnce<All extends readonly object[]> = [Exclude<CallerKind, 'anonymous' | KindsOf<All[number]>>] extends [
  never,
]
  ? [FoundTwice<All>] extends [never]
    ? unknown
    : { readonly 'these kinds of callers have two schemes': FoundTwice<All> }
  : { readonly 'these kinds of callers have no scheme': Exclude<CallerKind, 'anonymous' | KindsOf<All[number]>> };

/** The credential schemes of all domains. Does not compile unless every kind of caller of the contract has exactly one. */
export function schemesOf<const All extends readonly object[]>(domains: All & EachKindOnce<All>): readonly AnyScheme[] {
  return (domains as readonly { readonly callers?: Readonly<Record<string, AnyScheme>> }[]).flatMap(
    ({ callers = {} }) => Object.values(callers),
  );
}
