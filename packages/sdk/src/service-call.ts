// One call of a service route: JSON in and out, a time limit, the caller's AbortSignal, errors as PlatformError.
import type { RouteBodyInput, RouteId, routes } from '@platform/contract';
import { errorFromResponse, PlatformError } from './platform-error.ts';

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason, as `fetch` does. */
  readonly signal?: AbortSignal;
  /** Time limit of the whole call in milliseconds; default 30,000. */
  readonly timeoutMilliseconds?: number;
}

/** Address and credential of a service. */
export interface ServiceAccess {
  /** Origin of the services, without a trailing slash. */
  readonly api: string;
  readonly token: string;
}

type ServiceRoute = Extract<RouteId, `services.${string}`>;
type Spec<Id extends ServiceRoute> = (typeof routes)[Id];

/** The JSON answer of a route; `undefined` for one without a body. */
type Answer<Id extends ServiceRoute> = OutputOf<Spec<Id>['answers'][keyof Spec<Id>['answers']]>;
type OutputOf<Shape> = Shape extends { readonly _zod: { readonly output: infer Output } } ? Output : undefined;

interface CallInput<Id extends ServiceRoute> {
  readonly method: Spec<Id>['method'];
  /** The route's path as the table writes it. */
  readonly path: Spec<Id>['path'];
  /** Replaces the path's last segment when that is a parameter. */
  readonly parameter?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: RouteBodyInput<Id>;
}

const DEFAULT_TIMEOUT_MILLISECONDS = 30_000;

/**
 * Calls a service route and returns its answer's body (`undefined` for 204).
 *
 * @throws {PlatformError} for every refusal, time limit and network failure.
 */
export async function callService<Id extends ServiceRoute>(
  access: ServiceAccess,
  input: CallInput<Id>,
  options: CallOptions = {},
): Promise<Answer<Id>> {
  const headers: Record<string, string> = { authorization: `Bearer ${access.token}` };
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  const init: RequestInit = { method: input.method, headers };
  if (input.body !== undefined) init.body = JSON.stringify(input.body);
  return sendJson<Answer<Id>>(access.api + pathOf(input), init, options);
}

function pathOf(input: { path: string; parameter?: string; query?: CallInput<ServiceRoute>['query'] }): string {
  const path = input.parameter === undefined ? input.path : input.path.replace(/:\w+/, segment(input.parameter));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A dot segment vanishes when a URL is parsed, encoded or not: `remove('.')` would clear the whole index. */
function segment(parameter: string): string {
  if (/^\.{0,2}$/.test(parameter)) {
    throw new PlatformError({ code: 'invalid_request', detail: `"${parameter}" cannot be the id of a record.` });
  }
  return encodeURIComponent(parameter);
}

/** Sends a request, and reads its answer as JSON within the same time limit. */
export async function sendJson<Body>(url: string, init: RequestInit, options: CallOptions): Promise<Body> {
  const { signal, timeoutMilliseconds = DEFAULT_TIMEOUT_MILLISECONDS } = options;
  const limit = AbortSignal.timeout(timeoutMilliseconds);
  try {
    const response = await fetch(url, {
      ...init,
      credentials: 'omit',
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    if (!response.ok) throw await errorFromResponse(response);
    if (response.status === 204) return undefined as Body;
    return (await response.json()) as Body;
  } catch (error) {
    signal?.throwIfAborted();
    throw limit.aborted ? timedOut(timeoutMilliseconds, error) : callError(error);
  }
}

function timedOut(milliseconds: number, cause: unknown): PlatformError {
  return new PlatformError({ code: 'timed_out', detail: `No answer within ${milliseconds} ms.`, cause });
}

/** The SDK's error for a failed `fetch` or an unreadable body. */
export function callError(error: unknown): PlatformError {
  if (error instanceof PlatformError) return error;
  if (error instanceof SyntaxError) {
    return new PlatformError({ code: 'invalid_answer', detail: 'The answer is not JSON.', cause: error });
  }
  return new PlatformError({ code: 'network_failed', detail: 'The platform could not be reached.', cause: error });
}
