// The shape of a route handler: typed by the route table, free of HTTP ceremony.
import type { RouteAnswerInput, RouteBody, RouteId, RouteParams, RouteQuery } from '@platform/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerOf } from './caller.ts';

export interface RouteCall<Id extends RouteId> {
  readonly caller: CallerOf<Id>;
  readonly params: RouteParams<Id>;
  readonly query: RouteQuery<Id>;
  /** Parsed and checked; `undefined` for routes without a JSON body (streams are read from `request.raw`). */
  readonly body: RouteBody<Id>;
  /**
   * For a handler that reads an upload itself: called right before what it changes takes effect. Rejects as the route
   * table would when the caller's session, grant or account has ended meanwhile.
   */
  readonly stillAllowed: () => Promise<void>;
  /** Address of the client, after trusted proxies. For rate limits, never for identity. */
  readonly clientAddress: string;
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
