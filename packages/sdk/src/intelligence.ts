// AI models for a workload: what a stock client needs, and `fetch` without one, with the platform's refusals as
// PlatformError.
import { errorFromResponse, PlatformError } from './platform-error.ts';
import { fetchAnswer } from './service-call.ts';

export interface Intelligence {
  /** For a stock client: where it finds the provider. */
  readonly baseUrl: string;
  /** For a stock client: this workload's own credential; the provider's key stays with the platform. */
  readonly apiKey: string;
  /**
   * Like `fetch`, below `baseUrl`: `request('chat/completions', { body: { … } })`. A plain object is sent as JSON; with a
   * body the default method is POST. Answers of the provider are returned as they begin, whatever their status.
   *
   * @throws {PlatformError} when the platform refuses the call (`grant_missing`, `budget_exhausted`, `rate_limited`, …) or
   *   cannot reach the provider, and `timed_out`; the reason of `init.signal`
   */
  request(path: string, init?: IntelligenceRequest): Promise<Response>;
}

export interface IntelligenceRequest extends Omit<RequestInit, 'body' | 'redirect'> {
  /** A plain object, or what `fetch` takes. */
  readonly body?: RequestInit['body'] | Readonly<Record<string, unknown>>;
  /** Time limit for the beginning of the answer, in milliseconds; default none but the platform's own. */
  readonly timeoutMilliseconds?: number;
}

/** One AI provider, for a stock client (`baseUrl`, `apiKey`) or for single requests. */
export function intelligenceOf(
  access: { readonly api: string; readonly token: string },
  provider: string,
): Intelligence {
  const baseUrl = `${access.api}/v1/services/intelligence/${encodeURIComponent(provider)}`;
  return {
    baseUrl,
    apiKey: access.token,
    async request(path, { body, timeoutMilliseconds, ...init } = {}) {
      const url = below(baseUrl, path);
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${access.token}`);
      const isJson = isPlainObject(body);
      if (isJson && !headers.has('content-type')) headers.set('content-type', 'application/json');
      const method = body === undefined || body === null ? 'GET' : 'POST';
      const sent = body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body };
      const response = await fetchAnswer(url, { method, ...init, headers, ...sent }, timeoutMilliseconds);
      if (isRefusal(response)) throw await errorFromResponse(response);
      return response;
    },
  };
}

/** URLs resolve dot segments, also encoded ones, which could lead to another provider. */
function below(baseUrl: string, path: string): string {
  const { href } = new URL(`${baseUrl}/${path.replace(/^\/+/, '')}`);
  if (href.startsWith(`${baseUrl}/`)) return href;
  throw new PlatformError({ code: 'invalid_request', detail: 'The path leads out of the provider.' });
}

/** Providers write no problem documents; their errors are for the caller to read. */
function isRefusal({ ok, headers }: Response): boolean {
  return !ok && headers.get('content-type') === 'application/problem+json';
}

function isPlainObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && Object.getPrototypeOf(body) === Object.prototype;
}
