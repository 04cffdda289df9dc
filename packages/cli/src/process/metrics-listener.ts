// `GET /metrics` for the operator's Prometheus. It is unauthenticated and listens on loopback only: expose it only
// through an authenticating proxy.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

const { createServer } = process.getBuiltinModule('node:http');

export interface MetricsPlace {
  readonly host: string;
  readonly port: number;
}

export interface MetricsListener {
  close(): Promise<void>;
}

/** The text format of Prometheus. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Names under which a loopback address is asked for; a page that had its own name pointed here sends another. */
const OWN_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/;

/** @throws Error when the address cannot be used */
export async function listenForMetrics(
  { host, port }: MetricsPlace,
  text: () => Promise<string>,
): Promise<MetricsListener> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = refusalOf(request);
    if (status !== null) {
      response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end();
      return;
    }
    const body = await text();
    response.writeHead(200, { 'content-type': CONTENT_TYPE, 'cache-control': 'no-store' });
    response.end(body);
  }

  const server = createServer({ maxHeaderSize: 8 * 1024, requestTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.maxConnections = 16;
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return {
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function refusalOf(request: IncomingMessage): number | null {
  if (!OWN_HOST.test(request.headers.host?.toLowerCase() ?? '')) return 421;
  // No page has business here.
  if (request.headers.origin !== undefined || request.headers['sec-fetch-site'] !== undefined) return 403;
  if (request.url !== '/metrics') return 404;
  return request.method === 'GET' ? null : 405;
}
