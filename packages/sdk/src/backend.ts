// The way from a frontend to the backend of the same installation, with the launch's ticket and data-plane capability.

import type { CallOptions } from './call-options.ts';
import { PlatformError } from './platform-error.ts';
import { callError, sendJson } from './service-call.ts';

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
}

export function backendOf(backend: { readonly url: string; readonly capability: string } | null): Backend {
  const prepare = (path: string, init: RequestInit): [string, RequestInit] => {
    if (backend === null) {
      throw new PlatformError({
        code: 'workload_unavailable',
        detail: 'This app has no backend, or its owner has not allowed it yet in Settings → Apps.',
      });
    }
    if (!path.startsWith('/'))
      throw new PlatformError({ code: 'invalid_request', detail: `The path must start with "/": ${path}` });
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${backend.capability}`);
    return [backend.url + path, { ...init, headers, credentials: 'omit' }];
  };
  return {
    available: backend !== null,
    async fetch(path, init = {}) {
      const [url, request] = prepare(path, init);
      try {
        return await fetch(url, request);
      } catch (error) {
        request.signal?.throwIfAborted();
        throw callError(error);
      }
    },
    async json<Body>(
      path: string,
      { method, body }: { method?: string; body?: unknown } = {},
      options: CallOptions = {},
    ) {
      const init: RequestInit = { method: method ?? (body === undefined ? 'GET' : 'POST') };
      if (body !== undefined) {
        init.body = JSON.stringify(body);
        init.headers = { 'content-type': 'application/json' };
      }
      const [url, request] = prepare(path, init);
      return sendJson<Body>(url, request, options);
    },
  };
}
