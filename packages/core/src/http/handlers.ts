// The shape of a route handler: typed by the route table, free of HTTP ceremony.
import type { RouteAnswerInput, RouteBody, RouteId, RouteParams, RouteQuery, routes } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { CallerOf } from './caller.ts';
import type { StreamedItems } from './streamed-items.ts';

/** The body as the handler of a route gets it. */
export type BodyOf<Id extends RouteId> = (typeof routes)[Id] extends {
  readonly body: { readonly streams: { readonly item: infer Item extends z.ZodType } };
}
  ? StreamedItems<z.output<Item>>
  : RouteBody<Id>;

export interface RouteCall<Id extends RouteId> {
  readonly caller: CallerOf<Id>;
  readonly params: RouteParams<Id>;
  readonly query: RouteQuery<Id>;
  /** Parsed and checked; `undefined` for routes without a JSON body (uploads are read from `request.raw`). */
  readonly body: BodyOf<Id>;
  /**
   * For a handler that waits for something else than its body: called right before what it does takes effect. Resolves
   * with the caller as it is now; rejects as the route table would when its session, grant or account has ended.
   */
  readonly stillAllowed: () => Promise<CallerOf<Id>>;
  /** Fires when nobody waits for the answer any more. */
  readonly left: AbortSignal;
  /** The request's Origin, checked already where the table asks for it. */
  readonly origin: string | undefined;
  readonly request: FastifyRequest;
  /** For cookies, headers and streams. A handler that hijacks the reply answers `streamed`. */
  readonly reply: FastifyReply;
}

/** What a handler answers: a status of its table entry and the body, or `streamed` when it wrote the reply itself. */
export type RouteResult<Id extends RouteId> =
  | { readonly status: number; readonly body: RouteAnswerInput<Id> }
  | { readonly status: 204 }
  | { readonly streamed: true };

export type Handler<Id extends RouteId> = (call: RouteCall<Id>) => Promise<RouteResult<Id>>;

export type Handlers = { readonly [Id in RouteId]: Handler<Id> };
/** What a domain's routes.ts returns: the handlers of its routes. */
export type HandlersOf<Id extends RouteId> = Pick<Handlers, Id>;
