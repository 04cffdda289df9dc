// The way to the backend of an installation, for its frontend and for native clients: HTTP and WebSockets with an endpoint
// ticket and a data-plane capability.

import type { BEARER_SUBPROTOCOL, CLIENT_SUBPROTOCOL } from '@platform/contract';
import { decodeJson } from './base64url.ts';
import type { CallOptions } from './call-options.ts';
import { onAbort } from './clock.ts';
import { connecting } from './localhost.ts';
import { errorFromResponse, PlatformError } from './platform-error.ts';
import { Renewal } from './renewal.ts';
import { callError, within } from './service-call.ts';

/** The backend of an installation: HTTP and WebSockets. */
export interface Backend {
  /** False without a workload, and while the owner has not reviewed one that came with an update; every call then fails with `workload_unavailable`. */
  readonly available: boolean;
  /**
   * As the browser's `fetch`, on a path of the workload such as `/notes?limit=10`. The first call starts the workload,
   * so the caller sets its own time limit. Rejects with a PlatformError when no answer came.
   */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The JSON of a successful answer; anything else is thrown as a PlatformError. `body` is sent as JSON. */
  json<Body>(path: string, init?: { method?: string; body?: unknown }, options?: CallOptions): Promise<Body>;
  /**
   * Opens a WebSocket on a path of the workload. The platform closes it when the person signs out or disconnects the clients
   * of the app, and after 12 hours; open another one then.
   *
   * @returns the WebSocket, open
   * @throws {PlatformError} `network_failed` when it does not open: browsers do not say why
   */
  webSocket(path: string, options?: WebSocketOptions): Promise<WebSocket>;
}

/** How a WebSocket is opened. */
export interface WebSocketOptions {
  /** Subprotocols. With some, the workload has to accept one of them. */
  readonly protocols?: readonly string[];
  /** Gives the attempt up. */
  readonly signal?: AbortSignal;
}

/** What a launch gives a native client: `backend` of its descriptor. */
export interface BackendConnection {
  /** Says where the backend is. */
  readonly endpointTicket: string;
  /** Opens it, for 12 hours at most. */
  readonly capability: string;
}

/** Where a backend is and what opens it. */
export interface BackendPlace {
  readonly url: string;
  readonly capability: string;
}

/** The place of a backend at this moment. */
export interface BackendAccess {
  /** `null`: there is no backend. */
  readonly backend: BackendPlace | null;
  /** Gets another place instead of one whose capability was refused. @returns whether there is another one now */
  renew(refused: string): Promise<boolean>;
}

const BEARER: typeof BEARER_SUBPROTOCOL = 'platform.bearer.';
const CLIENT: typeof CLIENT_SUBPROTOCOL = 'platform.client';

/** How a native client goes on. */
export interface ConnectOptions {
  /** Gives another connection when the present one has ended, or `null`. Called at most every 30 s. Default: there is none. */
  readonly renew?: () => Promise<BackendConnection | string | null>;
}

/**
 * Connects a native client to the backend of one installation. Sends nothing yet.
 *
 * @param connection what a launch gave: `backend` of the descriptor, or the line that the shell shows,
 *   `<ticket>#<capability>`
 * @throws {PlatformError} `invalid_request` for what is no connection
 *
 * @example
 * ```ts
 * import { connectBackend } from '@platform/sdk';
 *
 * const backend = connectBackend(process.env.CONNECTION ?? '');
 * const { items } = await backend.json<{ items: string[] }>('/api/items');
 * console.log(items);
 * ```
 */
export function connectBackend(connection: BackendConnection | string, options: ConnectOptions = {}): Backend {
  const { renew = async () => null } = options;
  let backend = placeOf(connection);
  const renewal = new Renewal(async () => {
    const next = await renew();
    if (next !== null) backend = placeOf(next);
    return next !== null;
  });
  return backendOf({
    get backend() {
      return backend;
    },
    renew: (refused) => (refused === backend.capability ? renewal.run() : Promise.resolve(true)),
  });
}

function placeOf(connection: BackendConnection | string): BackendPlace {
  const [endpointTicket = '', capability = ''] =
    typeof connection === 'string' ? connection.trim().split('#') : [connection.endpointTicket, connection.capability];
  // It becomes part of a header and the name of a subprotocol.
  if (!/^[\w-]+$/.test(capability))
    throw new PlatformError({
      code: 'invalid_request',
      detail:
        'This is not a connection to a backend. Copy it again from the app’s page in Settings: <ticket>#<capability>.',
    });
  return { url: backendUrl(endpointTicket), capability };
}

/** An endpoint ticket is `<kind>.<base64url of JSON>`; kind `pet1` names a URL. */
export function backendUrl(ticket: string): string {
  const [kind, content] = ticket.split('.', 2);
  if (kind !== 'pet1' || content === undefined) {
    throw new PlatformError({
      code: 'invalid_answer',
      detail: 'This SDK does not support this kind of endpoint ticket. Update the SDK.',
    });
  }
  try {
    return (decodeJson(content) as { url: string }).url.replace(/\/$/, '');
  } catch (cause) {
    throw new PlatformError({ code: 'invalid_request', detail: 'The endpoint ticket is damaged.', cause });
  }
}

/** The app's own backend, as its page reaches it: requests, WebSockets and links, each with the present capability. */
export function backendOf(access: BackendAccess): Backend {
  function place(path: string): BackendPlace {
    if (!path.startsWith('/'))
      throw new PlatformError({ code: 'invalid_request', detail: `The path must start with "/": ${path}` });
    if (access.backend !== null) return access.backend;
    throw new PlatformError({
      code: 'workload_unavailable',
      detail: 'This app has no backend, or its owner has not allowed it yet in Settings → Apps.',
    });
  }

  /** Sends with the present capability, and once more if the platform refuses that and another one takes its place. */
  async function send(path: string, init: RequestInit): Promise<Response> {
    const { url, capability } = place(path);
    const response = await fetch(url + path, withBearer(url, init, capability));
    if (!isRefused(response) || !(await access.renew(capability)) || init.body instanceof ReadableStream)
      return response;
    const next = place(path);
    return fetch(next.url + path, withBearer(next.url, init, next.capability));
  }

  return {
    get available() {
      return access.backend !== null;
    },
    async fetch(path, init = {}) {
      try {
        return await send(path, init);
      } catch (error) {
        init.signal?.throwIfAborted();
        throw callError(error);
      }
    },
    async json<Body>(
      path: string,
      { method, body }: { method?: string; body?: unknown } = {},
      options: CallOptions = {},
    ) {
      const init: RequestInit = { method: method ?? (body === undefined ? 'GET' : 'POST'), redirect: 'manual' };
      if (body !== undefined) {
        init.body = JSON.stringify(body);
        init.headers = { 'content-type': 'application/json' };
      }
      return within(options, async (signal) => {
        const response = await send(path, { ...init, signal });
        if (!response.ok) throw await errorFromResponse(response);
        return (response.status === 204 ? undefined : await response.json()) as Body;
      });
    },
    async webSocket(path, { protocols = [], signal } = {}) {
      const open = () => {
        const { url, capability } = place(path);
        return openWebSocket(url.replace(/^http/, 'ws') + path, [CLIENT, BEARER + capability, ...protocols], signal);
      };
      const { capability } = place(path);
      try {
        return await open();
      } catch (error) {
        signal?.throwIfAborted();
        // It may have been refused; whatever else it was happens again.
        if (!(await access.renew(capability))) throw error;
      }
      return open();
    },
  };
}

function withBearer(url: string, init: RequestInit, capability: string): RequestInit {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${capability}`);
  return { ...connecting(url), ...init, headers, credentials: 'omit' };
}

/** By the node, which has not asked the workload then. A workload cannot send this field. */
function isRefused({ status, headers }: Response): boolean {
  return status === 401 && headers.get('www-authenticate') === 'Bearer';
}

function openWebSocket(url: string, protocols: string[], signal: AbortSignal | undefined): Promise<WebSocket> {
  if (typeof WebSocket !== 'function')
    throw new PlatformError({
      code: 'invalid_request',
      detail: 'This runtime has no WebSocket; Node has one since 22.',
    });
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const more = connecting(url);
    // Only Node and Deno take options here; the standard has a list.
    const offered = Object.keys(more).length === 0 ? protocols : { ...more, protocols };
    const socket = new WebSocket(url, offered as string[]);
    const stopFollowing = onAbort(signal, () => {
      reject(signal?.reason);
      socket.close();
    });
    const failed = () => {
      stopFollowing();
      reject(new PlatformError({ code: 'network_failed', detail: 'The WebSocket did not open.' }));
    };
    socket.addEventListener('error', failed, { once: true });
    socket.addEventListener('close', failed, { once: true });
    socket.addEventListener(
      'open',
      () => {
        stopFollowing();
        for (const event of ['error', 'close']) socket.removeEventListener(event, failed);
        resolve(socket);
      },
      { once: true },
    );
  });
}
