// The strict HTTP/1.1 front of the node: one Host that must be ours, safe targets, no tunnels.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { checkRequestTarget, RefusalError } from '@platform/contract';
import { acceptLinks, type LinkKey } from '@platform/link';
import type { Log } from '../clock.ts';
import { sendProblem } from './problem.ts';

const { createServer } = process.getBuiltinModule('node:http');

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Still percent-encoded, without the query. */
  readonly path: string;
  /** `?…` or empty. */
  readonly query: string;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Speaks TLS under this key instead of plain HTTP. */
  readonly key?: LinkKey;
  /** Whether a `Host` value (lower case) names this server. */
  readonly isOwnHost: (host: string) => boolean;
  readonly handle: (exchange: Exchange) => Promise<void> | void;
  readonly log: Log;
}

export interface HttpServer {
  readonly port: number;
  /** Takes no new connections, gives running requests `graceMilliseconds`, then breaks them off. */
  close(graceMilliseconds: number): Promise<void>;
}

const LARGEST_HEAD = 16 * 1024;
const HEAD_TIMEOUT = 20_000;
const CONNECTIONS_AT_MOST = 4_096;

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(
    // Uploads and streams may take as long as they need; only the head of a request is timed.
    { maxHeaderSize: LARGEST_HEAD, headersTimeout: HEAD_TIMEOUT, requestTimeout: 0, requireHostHeader: false },
    (req, res) => void receive(options, req, res),
  );
  server.maxConnections = CONNECTIONS_AT_MOST;
  if (options.key !== undefined) return behindTls(server, options, options.key);
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return { port: portOf(server), close: (grace) => close(server, grace) };
}

async function behindTls(server: Server, { host, port }: HttpServerOptions, key: LinkKey): Promise<HttpServer> {
  const listener = await acceptLinks(server, { key, host, port });
  return { port: listener.port, close: () => listener.close() };
}

async function receive(options: HttpServerOptions, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const requestId = randomUUID();
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.sendDate = false;
  res.on('error', () => res.destroy());
  try {
    const exchange = accept(options, req, res);
    if (exchange !== undefined) await options.handle(exchange);
  } catch (error) {
    if (res.headersSent || res.destroyed) res.destroy();
    else if (error instanceof RefusalError) sendProblem(res, error.refusal);
    else {
      options.log.error({ requestId, err: error }, 'a request to the node failed');
      sendProblem(res, { code: 'internal_error' });
    }
  }
}

/** The request as the rest may see it, or undefined after refusing it. */
function accept(options: HttpServerOptions, req: IncomingMessage, res: ServerResponse): Exchange | undefined {
  const hosts = req.headersDistinct.host ?? [];
  const [host] = hosts;
  if (hosts.length !== 1 || host === undefined || !options.isOwnHost(host.toLowerCase())) {
    sendProblem(res, { code: 'unknown_host' });
    return undefined;
  }
  if (req.method === 'TRACE' || req.method === 'CONNECT') {
    sendProblem(res, { code: 'method_not_allowed', detail: 'This method is not offered here.' });
    return undefined;
  }
  const target = checkRequestTarget(originForm(req.url ?? '', host));
  if (!target.ok) {
    sendProblem(res, { code: 'invalid_path' });
    return undefined;
  }
  return { req, res, path: target.path, query: target.query };
}

/** Absolute targets (RFC 9112 section 3.2.2) are taken for our own host only; any other stays and is refused. */
function originForm(target: string, host: string): string {
  const prefix = `http://${host.toLowerCase()}`;
  if (!target.toLowerCase().startsWith(prefix)) return target;
  const rest = target.slice(prefix.length);
  return rest.startsWith('/') ? rest : target;
}

async function close(server: Server, graceMilliseconds: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  await closed;
  clearTimeout(timer);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The node listener has no port.');
  return address.port;
}
