// Calls of an outside service with a secret that the Gateway adds: `fetch`, with the platform's refusals as PlatformError.
import { errorFromResponse, PlatformError } from './platform-error.ts';
import { fetchAnswer } from './service-call.ts';

/** An outside service behind one secret slot of the manifest. */
export interface OutboundService {
  /** For stock clients: stands for the slot's origin and path. */
  readonly baseUrl: string;
  /** For stock clients that send it as `Authorization: Bearer`. It is worth nothing outside this workload. */
  readonly apiKey: string;
  /**
   * Like `fetch`; `path` is below the slot's path. Answers of the service are returned whatever their status.
   *
   * @throws {PlatformError} when the platform refuses the call or cannot reach the service, and
   *   `timed_out`; the reason of `init.signal`
   */
  request(path: string, init?: OutboundRequest): Promise<Response>;
}

export interface OutboundRequest extends Omit<RequestInit, 'redirect'> {
  /** Time limit for the beginning of the answer, in milliseconds; default none but the platform's own. */
  readonly timeoutMilliseconds?: number;
}

const OWN_ERRORS = 'urn:platform:error:';

/** The outside service of one secret slot, for a stock client (`baseUrl`, `apiKey`) or for single requests. */
export function outboundService(
  access: { readonly api: string; readonly token: string },
  slot: string,
): OutboundService {
  const baseUrl = `${access.api}/v1/services/outbound/${encodeURIComponent(slot)}`;
  return {
    baseUrl,
    apiKey: access.token,
    async request(path, { timeoutMilliseconds, ...init } = {}) {
      const url = below(baseUrl, path);
      const headers = new Headers(init.headers);
      if (headers.has('authorization'))
        throw refused('Send no Authorization: the secret of the slot is added on the way.');
      headers.set('authorization', `Bearer ${access.token}`);
      const response = await fetchAnswer(url, { ...init, headers }, timeoutMilliseconds);
      if (await isOwnRefusal(response)) throw await errorFromResponse(response);
      return response;
    },
  };
}

/** URLs resolve dot segments, also encoded ones, which could lead to another slot. */
function below(baseUrl: string, path: string): string {
  const rest = path.replace(/^\/+/, '');
  const separator = rest === '' || rest.startsWith('?') ? '' : '/';
  const { href, hash } = new URL(baseUrl + separator + rest);
  if (!href.startsWith(baseUrl + separator) || hash !== '')
    throw refused('The path leads out of the slot, or holds a #.');
  return href;
}

function refused(detail: string): PlatformError {
  return new PlatformError({ code: 'invalid_request', detail });
}

/** The service may answer with problem documents of its own. */
async function isOwnRefusal(response: Response): Promise<boolean> {
  if (response.ok || response.headers.get('content-type') !== 'application/problem+json') return false;
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return (
    typeof problem === 'object' &&
    problem !== null &&
    'type' in problem &&
    typeof problem.type === 'string' &&
    problem.type.startsWith(OWN_ERRORS)
  );
}
