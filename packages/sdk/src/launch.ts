// How a frontend comes by its credentials: launch data out of the address, or from the shell for a document that has
// none, exchanged once. They stay in memory: browsers may forbid storage to what is shown in a frame.
import type {
  BridgeLaunched,
  BridgeLaunchRequest,
  ExchangeAnswer,
  LAUNCH_MARK,
  LAUNCH_PLACE_MARK,
  LaunchFragment,
} from '@platform/contract';
import { type BackendAccess, type BackendPlace, backendUrl } from './backend.ts';
import { decodeJson } from './base64url.ts';
import type { CallOptions, ServiceAccess } from './call-options.ts';
import { onAbort } from './clock.ts';
import { PlatformError } from './platform-error.ts';
import { Renewal } from './renewal.ts';
import { sendJson } from './service-call.ts';

export interface Launch {
  readonly appId: string;
  /** Origin of the platform's services. */
  readonly api: string;
  /** Origin of the shell. */
  readonly shell: string;
  /** The frontend capability. */
  readonly token: string;
  /** RFC 3339; 12 h after the launch at most, and never later than the session. */
  readonly expiresAt: string;
  readonly backend: BackendPlace | null;
}

const MARK: typeof LAUNCH_MARK = '#platform=';
const PLACE_MARK: typeof LAUNCH_PLACE_MARK = '&';
const ANSWER_MILLISECONDS = 10_000;

/**
 * The credentials of a page: for the platform's services, and for its backend. Core refuses one that is 12 hours old, and the
 * oldest of an app that was opened 64 times in one session; the owner can end those for the backend at any time. The
 * shell then gives others.
 */
export class LaunchAccess implements ServiceAccess, BackendAccess {
  readonly api: string;
  #token: string;
  #backend: BackendPlace | null;
  readonly #renewal: Renewal;

  /** @param again launches this page anew */
  constructor({ api, token, backend }: Launch, again: () => Promise<Launch>, now?: () => number) {
    this.api = api;
    this.#token = token;
    this.#backend = backend;
    this.#renewal = new Renewal(async () => {
      const next = await again();
      this.#token = next.token;
      this.#backend = next.backend;
      return true;
    }, now);
  }

  get token(): string {
    return this.#token;
  }

  get backend(): BackendPlace | null {
    return this.#backend;
  }

  /** Calls that are refused at the same time wait for one launch. */
  renew(refused: string): Promise<boolean> {
    const isPresent = refused === this.#token || refused === this.#backend?.capability;
    return isPresent ? this.#renewal.run() : Promise.resolve(true);
  }
}

/**
 * Takes the launch data out of the address at once and exchanges their single-use capability. A document without any, after
 * a reload or on another page of the app, asks the shell for new ones; so does one whose capability was used up, because
 * the browser restored an address of long ago.
 *
 * @throws {PlatformError} `not_launched` when the shell does not give any; the platform's refusal of the exchange
 */
export async function readLaunch(page: Window, options: CallOptions): Promise<Launch> {
  const data = takeFromAddress(page);
  if (data !== undefined) {
    try {
      return await exchanged(data, options);
    } catch (error) {
      if (!(error instanceof PlatformError) || error.status !== 401) throw error;
    }
  }
  return launchAgain(page, options);
}

/** @throws {PlatformError} as `readLaunch` */
export async function launchAgain(page: Window, options: CallOptions = {}): Promise<Launch> {
  return exchanged(await askShell(page, options), options);
}

/** What follows the launch data is the fragment of the place where the app was left. */
function takeFromAddress(page: Window): string | undefined {
  const { hash, pathname, search } = page.location;
  if (!hash.startsWith(MARK)) return undefined;
  const [data = '', ...place] = hash.slice(MARK.length).split(PLACE_MARK);
  const fragment = place.length === 0 ? '' : `#${place.join(PLACE_MARK)}`;
  page.history.replaceState(page.history.state, '', pathname + search + fragment);
  return data;
}

/** Asks any parent: an app is framed by its shell alone (`frame-ancestors`), and the question says nothing. */
function askShell(page: Window, { signal }: CallOptions): Promise<string> {
  const nonce = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    const finish = () => {
      clearTimeout(timer);
      stopFollowing();
      page.removeEventListener('message', listen);
    };
    const timer = setTimeout(() => {
      finish();
      reject(new PlatformError({ code: 'not_launched', detail: 'Open this app from the platform.' }));
    }, ANSWER_MILLISECONDS);
    const stopFollowing = onAbort(signal, () => {
      finish();
      reject(signal?.reason);
    });
    const listen = ({ source, data: answer }: MessageEvent<BridgeLaunched | null>) => {
      if (source !== page.parent || answer?.type !== 'platform.launched' || answer.nonce !== nonce) return;
      finish();
      resolve(answer.fragment.slice(MARK.length));
    };
    page.addEventListener('message', listen);
    const request: BridgeLaunchRequest = { type: 'platform.launch', version: 1, nonce };
    page.parent.postMessage(request, '*');
  });
}

async function exchanged(data: string, options: CallOptions): Promise<Launch> {
  // The shell shows the page to somebody who has not accepted it yet.
  if (data === '')
    throw new PlatformError({ code: 'not_launched', detail: 'This is a preview, without the platform.' });
  const fragment = decode(data) as LaunchFragment;
  const { appId, capability: token, expiresAt } = await exchange(fragment, options);
  const { api, shell, ticket, dataPlane } = fragment;
  const backend = ticket === null || dataPlane === null ? null : { url: backendUrl(ticket), capability: dataPlane };
  return { appId, api, shell, token, expiresAt, backend };
}

function exchange({ api, capability }: LaunchFragment, options: CallOptions): Promise<ExchangeAnswer> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify({ capability }) };
  return sendJson<ExchangeAnswer>(`${api}/v1/frontend/exchange`, init, options);
}

function decode(data: string): unknown {
  try {
    return decodeJson(data);
  } catch (cause) {
    throw new PlatformError({ code: 'not_launched', detail: 'The launch data of this address is damaged.', cause });
  }
}
