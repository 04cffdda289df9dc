// How a frontend gets its credentials: the launch fragment, exchanged once, then this origin's session storage.
import type { ExchangeAnswer, LaunchFragment } from '@platform/contract';
import { PlatformError } from './platform-error.ts';
import { type CallOptions, sendJson } from './service-call.ts';

export interface Launch {
  readonly appId: string;
  /** Origin of the shell and of the platform's services. */
  readonly api: string;
  /** The frontend capability. */
  readonly token: string;
  /** RFC 3339; 12 h after the launch at most, and never later than the session. */
  readonly expiresAt: string;
  readonly backend: { readonly url: string; readonly capability: string } | null;
}

const STORAGE_KEY = 'platform.launch';
const MARK = '#platform=';

/**
 * Reads the launch fragment, clears it from the address at once, and exchanges its single-use capability.
 * After a reload, when there is no fragment any more, the stored result of the first launch is used.
 *
 * @throws {PlatformError} `not_launched` without either; the platform's refusal when the exchange is refused
 */
export async function readLaunch(page: Window, options: CallOptions): Promise<Launch> {
  const kept = readKept(page);
  const { hash, pathname, search } = page.location;
  if (!hash.startsWith(MARK)) {
    if (kept !== undefined) return kept;
    throw new PlatformError({ code: 'not_launched', detail: 'Open this app from the platform.' });
  }
  page.history.replaceState(page.history.state, '', pathname + search);
  const fragment = decode(hash.slice(MARK.length)) as LaunchFragment;
  try {
    const answer = await exchange(fragment, options);
    const backend =
      fragment.ticket === null || fragment.dataPlane === null
        ? null
        : { url: backendUrl(fragment.ticket), capability: fragment.dataPlane };
    const { appId, capability: token, expiresAt } = answer;
    const launch: Launch = { appId, api: fragment.api, token, expiresAt, backend };
    page.sessionStorage.setItem(STORAGE_KEY, JSON.stringify(launch));
    return launch;
  } catch (error) {
    // The browser restored an address whose capability was consumed long ago; the exchanged one may still be valid.
    if (kept !== undefined && error instanceof PlatformError && error.status === 401) return kept;
    throw error;
  }
}

function readKept(page: Window): Launch | undefined {
  const text = page.sessionStorage.getItem(STORAGE_KEY);
  if (text === null) return undefined;
  const launch = JSON.parse(text) as Launch;
  return Date.parse(launch.expiresAt) > Date.now() ? launch : undefined;
}

function exchange({ api, capability }: LaunchFragment, options: CallOptions): Promise<ExchangeAnswer> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ capability }) };
  return sendJson<ExchangeAnswer>(`${api}/v1/frontend/exchange`, init, options);
}

/** An endpoint ticket is `<kind>.<base64url of JSON>`; kind `pet1` names a URL. */
function backendUrl(ticket: string): string {
  const [kind, content] = ticket.split('.', 2);
  if (kind !== 'pet1' || content === undefined) {
    throw new PlatformError({
      code: 'invalid_answer',
      detail: 'This SDK does not support this kind of endpoint ticket. Update the SDK.',
    });
  }
  return (decode(content) as { url: string }).url.replace(/\/$/, '');
}

function decode(base64url: string): unknown {
  try {
    const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (letter) => letter.charCodeAt(0))));
  } catch (cause) {
    throw new PlatformError({ code: 'not_launched', detail: 'The launch data of this address is damaged.', cause });
  }
}
