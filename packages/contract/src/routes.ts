// What handlers and callers of a route see of it, inferred from its entry in the route table.
import type * as z from 'zod';
import type { routes } from './domains.ts';

export type RouteId = keyof typeof routes;

type MemberOutput<Spec, Key extends string> = Spec extends { readonly [K in Key]: infer S extends z.ZodType }
  ? z.output<S>
  : undefined;
type BodyOutput<Spec> = Spec extends { readonly body: { readonly schema: infer S extends z.ZodType } }
  ? z.output<S>
  : undefined;
type BodyInput<Spec> = Spec extends { readonly body: { readonly schema: infer S extends z.ZodType } }
  ? z.input<S>
  : undefined;
type AnswerOutput<Shapes> = {
  [Status in keyof Shapes]: Shapes[Status] extends z.ZodType ? z.output<Shapes[Status]> : undefined;
}[keyof Shapes];
type AnswerInput<Shapes> = {
  [Status in keyof Shapes]: Shapes[Status] extends z.ZodType ? z.input<Shapes[Status]> : undefined;
}[keyof Shapes];

export type RouteParams<Id extends RouteId> = MemberOutput<(typeof routes)[Id], 'params'>;
export type RouteQuery<Id extends RouteId> = MemberOutput<(typeof routes)[Id], 'query'>;
/** The body as a handler sees it, defaults filled in. */
export type RouteBody<Id extends RouteId> = BodyOutput<(typeof routes)[Id]>;
/** The body as a caller may send it. */
export type RouteBodyInput<Id extends RouteId> = BodyInput<(typeof routes)[Id]>;
/** The answer as a caller receives it. */
export type RouteAnswer<Id extends RouteId> = AnswerOutput<(typeof routes)[Id]['answers']>;
/** The answer as a handler may give it: ids and times as plain strings. */
export type RouteAnswerInput<Id extends RouteId> = AnswerInput<(typeof routes)[Id]['answers']>;
