// One way to call core with the session of this page. Types come from the contract's route table.
import type { Problem, RouteAnswer, RouteBodyInput } from '@platform/contract';
import { ApiError } from './api-error.ts';
import { pinHeaders } from './pin.ts';
import { type ShellRoute, shellRoutes } from './routes.ts';
import { type SessionEnd, sessionEndOf } from './session-end.ts';

interface CallOptions<Id extends ShellRoute> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: RouteBodyInput<Id>;
  /** Default 30 seconds; installing unpacks a package and may take longer. */
  readonly timeoutMs?: number;
  /** Ends the call early; it then fails with code `unavailable`, or while the answer is read with an `AbortError`. */
  readonly signal?: AbortSignal;
}

type CoreRequest = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

const accountCloses = new Set<() => void>();

/** Calls back when core refuses a request because the account is about to be deleted. */
export function onAccountClosing(listener: () => void): void {
  accountCloses.add(listener);
}

const sessionEnded = new Set<(end: SessionEnd) => void>();

/** Calls back when core no longer takes a request of this page for its session's. */
export function onSessionEnd(listener: (end: SessionEnd) => void): void {
  sessionEnded.add(listener);
}

function address<Id extends ShellRoute>(path: string, { params = {}, query = {} }: CallOptions<Id>): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/** Path and query of a call, for what is no JSON. */
export function addressOfCall<Id extends ShellRoute>(id: Id, options: CallOptions<Id>): string {
  return address(shellRoutes[id].split(' ')[1] ?? '', options);
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body && 'status' in body;
}

async function refusalOf(response: Response): Promise<ApiError> {
  // May come as a page: which of the two was asked for cannot always be told from a head that is too large.
  if (response.status === 431) {
    const detail = 'This browser sent too many cookies, so the platform had it delete them. Try again.';
    return new ApiError({ code: 'head_too_large', detail, status: response.status });
  }
  const body: unknown = await response.json().catch(() => null);
  const retryAfter = Number(response.headers.get('retry-after'));
  if (isProblem(body)) return new ApiError(body, retryAfter > 0 ? retryAfter : null);
  const detail = `The platform gave an unexpected answer (${response.status}). Try again shortly.`;
  return new ApiError({ code: 'internal_error', detail, status: response.status });
}

/**
 * A request to core at this origin, with the pin of this page.
 * @throws ApiError for every refusal of core, and with code `unavailable` and status 0 when no answer came
 */
export async function send(path: string, request: CoreRequest): Promise<Response> {
  const headers = { ...request.headers, ...pinHeaders() };
  const response = await fetch(path, { ...request, headers }).catch(() => {
    const detail = 'The platform does not answer. Check that it is running and that you are connected to it.';
    throw new ApiError({ code: 'unavailable', detail, status: 0 });
  });
  if (response.ok) return response;
  const error = await refusalOf(response);
  const end = sessionEndOf(error);
  if (end !== null) for (const listener of sessionEnded) listener(end);
  if (error.code === 'account_closing') for (const listener of accountCloses) listener();
  throw error;
}

/**
 * @throws ApiError for every refusal of core, and with code `unavailable` and status 0 when no answer came
 */
export async function call<Id extends ShellRoute>(id: Id, options: CallOptions<Id> = {}): Promise<RouteAnswer<Id>> {
  const [method = 'GET', path = ''] = shellRoutes[id].split(' ');
  const body = options.body === undefined ? (method === 'POST' ? {} : undefined) : options.body;
  const limit = AbortSignal.timeout(options.timeoutMs ?? 30_000);
  const response = await send(address(path, options), {
    method,
    signal: AbortSignal.any([limit, ...(options.signal ? [options.signal] : [])]),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  // Core proves its answers against the route table; here they are trusted to have the shape it names.
  if (response.status === 204) return undefined as RouteAnswer<Id>;
  return (await response.json()) as RouteAnswer<Id>;
}

/** Options for lists that never have more than 200 items. */
export const ONE_PAGE = { query: { limit: 200 } } as const;

/** Reads a list to its end, at most `pages` pages. */
export async function everyItem<Item>(
  readPage: (
    cursor: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
  pages = 20,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < pages; count += 1) {
    const page = await readPage(cursor);
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    cursor = page.nextCursor;
  }
  return items;
}
