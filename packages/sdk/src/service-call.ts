// One call of a service route: JSON in and out, a time limit, the caller's AbortSignal, errors as PlatformError.
import type { RouteBodyInput, RouteId, routes } from '@platform/contract';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { pause, systemClock } from './clock.ts';
import { connecting } from './localhost.ts';
import { errorFromResponse, PlatformError } from './platform-error.ts';

type ServiceRoute = Extract<RouteId, `services.${string}`>;
type Spec<Id extends ServiceRoute> = (typeof routes)[Id];

/** The JSON answer of a route; `undefined` for one without a body. */
type Answer<Id extends ServiceRoute> = OutputOf<Spec<Id>['answers'][keyof Spec<Id>['answers']]>;
type OutputOf<Shape> = Shape extends { readonly _zod: { readonly output: infer Output } } ? Output : undefined;

interface CallInput<Id extends ServiceRoute> {
  readonly method: Spec<Id>['method'];
  /** The route's path as the table writes it. */
  readonly path: Spec<Id>['path'];
  /** What stands in the place of the path's parameters, by their names. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: RouteBodyInput<Id>;
  /** Whether it changes nothing more, and answers the same, when it is repeated. Default: only a GET does. */
  readonly repeatable?: boolean;
}

/** A call that may be repeated is sent this many times in all. */
const ATTEMPTS = 3;
const FIRST_PAUSE_MILLISECONDS = 300;
/** Of what the platform asks for; the caller decides about longer ones. */
const LONGEST_PAUSE_MILLISECONDS = 5_000;
const DEFAULT_TIMEOUT_MILLISECONDS = 30_000;

/**
 * Calls a service route and returns its answer's body (`undefined` for 204). A call that may be repeated outlasts a
 * platform that cannot be reached for a moment.
 *
 * @throws {PlatformError} for every refusal, time limit and network failure.
 */
export async function callService<Id extends ServiceRoute>(
  access: ServiceAccess,
  input: CallInput<Id>,
  options: CallOptions = {},
): Promise<Answer<Id>> {
  const init: RequestInit = { method: input.method };
  if (input.body !== undefined) init.body = JSON.stringify(input.body);
  const url = access.api + pathOf(input);
  const isRepeatable = input.repeatable ?? input.method === 'GET';
  return within(options, (signal) =>
    repeatedly(isRepeatable ? ATTEMPTS : 1, signal, () =>
      withCredential(access, signal, (authorization) => {
        const headers: Record<string, string> = { authorization };
        if (input.body !== undefined) headers['content-type'] = 'application/json';
        return fetchJson<Answer<Id>>(url, { ...init, headers, signal });
      }),
    ),
  );
}

async function repeatedly<Result>(attempts: number, signal: AbortSignal, send: () => Promise<Result>): Promise<Result> {
  for (let left = attempts - 1, wait = FIRST_PAUSE_MILLISECONDS; ; left -= 1, wait *= 3) {
    try {
      return await send();
    } catch (error) {
      const known = callError(error);
      const asked = (known.retryAfter ?? 0) * 1_000;
      if (left === 0 || signal.aborted || !mayPass(known) || asked > LONGEST_PAUSE_MILLISECONDS) throw error;
      // Spread, so that many callers do not come back in the same moment after a restart.
      await pause(systemClock, Math.max(asked, wait * (0.5 + Math.random())), signal);
    }
  }
}

/** Nobody there, or somebody on the way who could not hand it on; not what was decided, such as a pause of the account. */
function mayPass({ code, status }: PlatformError): boolean {
  if (code === 'network_failed') return true;
  return status >= 502 && status <= 504 && code !== 'runtime_paused' && code !== 'transport_unavailable';
}

/**
 * Sends with the present credential, and once more if that is refused and another one takes its place: a credential that
 * is refused has changed nothing.
 */
export async function withCredential<Result>(
  access: ServiceAccess,
  signal: AbortSignal | undefined,
  send: (authorization: string) => Promise<Result>,
): Promise<Result> {
  const { token } = access;
  try {
    return await send(`Bearer ${token}`);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.status !== 401 || access.renew === undefined) throw error;
    if (!(await untilAborted(access.renew(token), signal))) throw error;
  }
  return send(`Bearer ${access.token}`);
}

/** The work goes on for others that wait for it. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export function pathOf(input: {
  readonly path: string;
  readonly parameters?: CallInput<ServiceRoute>['parameters'];
  readonly query?: CallInput<ServiceRoute>['query'];
}): string {
  const { parameters = {} } = input;
  const path = input.path.replaceAll(/:(\w+)/g, (_, name: string) => segment(parameters[name] ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

/**
 * A dot segment vanishes when a URL is parsed, encoded or not: `remove('.')` would clear the whole index. The others the platform
 * takes in no path, before it knows whose request it is, so that a page would learn nothing.
 */
function segment(parameter: string): string {
  if (/^\.{0,2}$|[\u0000-\u001f\u007f/\\]|\p{Surrogate}/u.test(parameter)) {
    throw new PlatformError({ code: 'invalid_request', detail: `"${parameter}" cannot be the id of a record.` });
  }
  return encodeURIComponent(parameter);
}

/** Sends a request, and reads its answer as JSON within the same time limit. */
export function sendJson<Body>(url: string, init: RequestInit, options: CallOptions): Promise<Body> {
  return within(options, (signal) => fetchJson(url, { ...init, signal }));
}

async function fetchJson<Body>(url: string, init: RequestInit): Promise<Body> {
  // A redirect is an answer like any other wrong one: followed, it could carry the credential elsewhere.
  const response = await fetch(url, { ...connecting(url), ...init, credentials: 'omit', redirect: 'manual' });
  if (!response.ok) throw await errorFromResponse(response);
  return (response.status === 204 ? undefined : await response.json()) as Body;
}

/** Gives the work a signal of its time limit and its caller; what it throws becomes an error of the SDK. */
export async function within<Result>(
  { signal, timeoutMilliseconds = DEFAULT_TIMEOUT_MILLISECONDS }: CallOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // Not AbortSignal.timeout, whose timer would outlast the call.
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMilliseconds);
  try {
    return await work(signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    signal?.throwIfAborted();
    throw limit.signal.aborted ? timedOut(timeoutMilliseconds, error) : callError(error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * `fetch` for answers that may take any time once they have begun. Returns redirects as they are.
 *
 * @param timeoutMilliseconds until the answer begins
 */
export async function fetchAnswer(
  url: string,
  init: RequestInit,
  timeoutMilliseconds: number | undefined,
): Promise<Response> {
  const limit = new AbortController();
  const timer = timeoutMilliseconds === undefined ? undefined : setTimeout(() => limit.abort(), timeoutMilliseconds);
  const signal = init.signal ? AbortSignal.any([init.signal, limit.signal]) : limit.signal;
  try {
    return await fetch(url, { ...connecting(url), ...init, redirect: 'manual', signal });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw limit.signal.aborted ? timedOut(timeoutMilliseconds, error) : callError(error);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(milliseconds: number | undefined, cause: unknown): PlatformError {
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
