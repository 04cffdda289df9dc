// Calls of routes from within core, for tools: the handler of the route, behind the checks that a request for it would meet, but for
// those of the request itself.
import { fieldErrors, notValid, type RouteId, type RouteSpec, refuse, routes } from '@platform/contract';
import { refuseUnstorable } from '../bodies/storable-values.ts';
import type { Caller } from '../caller.ts';
import { type AnyHandler, checkAuthority, checkBodyResource, parse, type RouteTableOptions } from './route-table.ts';

export interface InProcessCall {
  readonly caller: Caller;
  readonly params?: object;
  /** As JSON values, where a request has text. */
  readonly query?: object;
  readonly body?: object;
  readonly left: AbortSignal;
  /** Its person allowed the very thing: no grant and no role is asked for. */
  readonly consented?: boolean;
  /** The caller as it is now; rejects when it has ended. */
  readonly stillAllowed: () => Promise<Caller>;
}

/** @returns the body of the answer */
export type CallRoute = (id: RouteId, call: InProcessCall) => Promise<unknown>;

/** Where the domains find the calls, which exist once the server does. */
export class RouteCalls {
  #call: CallRoute | null = null;

  open(options: RouteTableOptions): void {
    this.#call = callerOf(options);
  }

  /** @throws RefusalError as the route would be refused */
  call: CallRoute = (id, call) => {
    if (this.#call === null) throw new Error('no server of this process answers routes');
    return this.#call(id, call);
  };
}

function callerOf(options: RouteTableOptions): CallRoute {
  return async (id, { left, ...given }) => {
    const spec: RouteSpec = routes[id];
    const admit = async (caller: Caller): Promise<Caller> => {
      const refusal = options.callers.refusalOf(caller, spec);
      if (refusal !== null) throw refusal;
      if (given.consented !== true) await checkAuthority(caller, spec, options);
      return caller;
    };
    const caller = await admit(given.caller);
    if (spec.fillsDatabase === true) options.requireRoom?.();
    const subject = options.callers.subjectOf(caller);
    if (subject === null) throw new Error(`${id} was called by nobody`);
    await options.takeRate(spec.rate, subject);
    const params = parse(spec.params, given.params ?? {}, 'path');
    const query = parse(spec.query, textsOf(given.query), 'query');
    const body = readBody(spec, given.body);
    if (given.consented !== true) await checkBodyResource({ spec, caller, body }, options);
    const handler = options.handlers[id] as unknown as AnyHandler;
    const result = await handler({
      ...{ caller, params, query, body, left, origin: undefined },
      stillAllowed: async () => admit(await given.stillAllowed()),
      get request() {
        return withoutRequest(id);
      },
      get reply() {
        return withoutRequest(id);
      },
    });
    if ('streamed' in result) throw new Error(`${id} answers with a stream`);
    return 'body' in result ? result.body : null;
  };
}

function withoutRequest(id: RouteId): never {
  throw new Error(`${id} was called without a request, which its handler needs`);
}

function textsOf(query: object = {}): object {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
}

/** @throws RefusalError `invalid_request` */
function readBody({ path, body: spec }: RouteSpec, value: object | undefined): unknown {
  if (spec === undefined) return undefined;
  if (!('schema' in spec) || spec.refusesSecrets === true || spec.streams !== undefined)
    throw new Error(`the body of ${path} is read from a request alone`);
  if (spec.cleansText !== true) refuseUnstorable(value, 'body');
  if (Buffer.byteLength(JSON.stringify(value ?? null)) > spec.limit) throw refuse('payload_too_large');
  const result = spec.schema.safeParse(value);
  if (result.success) return result.data;
  throw notValid('The body', fieldErrors(result.error));
}
