// The listener of core: request hygiene, then dispatch by host to the API, the shell's files or an app's files.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { checkRequestTarget, errors, problemOf, type Refusal } from '@platform/contract';
import { type CoreConfig, originParts } from '../config/config.ts';
import { isAppOrigin, parseAppHost } from './origins.ts';
import { problemHeaders, writeProblem } from './problem.ts';
import { crossOriginMethods } from './route-table.ts';
import type { ServerOptions } from './server.ts';
import { isPageVisit, writeWrongHostPage } from './wrong-host-page.ts';

const { createServer } = process.getBuiltinModule('node:http');

const OWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const CROSS_ORIGIN_HEADERS = 'authorization, content-type, last-event-id, traceparent, tracestate';

/** The node:http server behind every host of core. `api` is fastify's handler; `requestId` names each answer. */
export function createListener(
  options: ServerOptions,
  api: (request: IncomingMessage, response: ServerResponse) => void,
  requestId: () => string,
): Server {
  const { config, log } = options;
  const shellHost = new URL(config.origin).host;
  const { port } = originParts(config);

  function dispatch(request: IncomingMessage, response: ServerResponse): void {
    const refusal = admit(request, shellHost);
    if (refusal !== null) {
      writeProblem(response, refusal, requestId());
      return;
    }
    const host = (request.headers.host ?? '').toLowerCase();
    if (host !== shellHost) {
      const hostname = host.endsWith(port) ? host.slice(0, host.length - port.length) : '';
      const appHost = parseAppHost(hostname, config.appsDomain);
      if (appHost !== null) serve(response, options.serveApp(request, response, appHost));
      else if (isPageVisit(request)) writeWrongHostPage(response, config.origin, requestId());
      else writeProblem(response, { code: 'unknown_host', detail: `Open ${config.origin} instead.` }, requestId());
      return;
    }
    const path = pathOf(request.url ?? '');
    if (path !== '/v1' && !path.startsWith('/v1/')) {
      serve(response, options.serveShell(request, response));
    } else if (!checkRequestTarget(request.url ?? '').ok) {
      writeProblem(response, { code: 'invalid_path' }, requestId());
    } else if (request.method !== 'OPTIONS' || !preflight(request, response, config)) {
      api(request, response);
    }
  }

  function serve(response: ServerResponse, served: Promise<void>): void {
    served.catch((error: unknown) => {
      log.error({ err: error }, 'a file could not be served');
      if (response.headersSent) response.destroy();
      else writeProblem(response, { code: 'internal_error' }, requestId());
    });
  }

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      requestTimeout: 0,
      headersTimeout: 20_000,
      keepAliveTimeout: 65_000,
      requireHostHeader: true,
    },
    dispatch,
  );
  server.maxHeadersCount = 100;
  server.on('connect', (_request: IncomingMessage, socket: Socket) => socket.destroy());
  server.on('upgrade', (_request: IncomingMessage, socket: Socket) =>
    closeWith(socket, { code: 'invalid_request', detail: 'This server offers no protocol upgrade.' }, requestId()),
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    writeProblem(response, { code: 'invalid_request', detail: 'The Expect header is not understood.' }, requestId());
  });
  server.on('clientError', (_error: Error, socket: Socket) =>
    closeWith(socket, { code: 'invalid_request', detail: 'The request is not valid HTTP.' }, requestId()),
  );
  return server;
}

/** Hygiene before anything else is looked at; writes the target back in origin form. */
function admit(request: IncomingMessage, shellHost: string): Refusal | null {
  if (countHosts(request.rawHeaders) !== 1) return { code: 'invalid_request', detail: 'Send exactly one Host.' };
  const target = ownTarget(request, shellHost);
  if (target === null) return { code: 'invalid_path' };
  request.url = target;
  if (!OWN_METHODS.has(request.method ?? '')) return { code: 'method_not_allowed', allow: [...OWN_METHODS] };
  return null;
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

/** The target in origin form; absolute form is taken only for our own host (RFC 9112, section 3.2.2). */
function ownTarget(request: IncomingMessage, shellHost: string): string | null {
  const target = request.url ?? '';
  if (target.startsWith('/')) return target;
  const prefix = /^http:\/\/([^/?#]+)(\/.*)?$/i.exec(target);
  if (prefix === null || prefix[1]?.toLowerCase() !== shellHost) return null;
  return prefix[2] ?? '/';
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === 'host') count += 1;
  }
  return count;
}

function preflight(request: IncomingMessage, response: ServerResponse, config: CoreConfig): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !isAppOrigin(origin, config)) return false;
  const methods = crossOriginMethods(pathOf(request.url ?? ''));
  if (methods.length === 0) return false;
  response.writeHead(204, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': CROSS_ORIGIN_HEADERS,
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  });
  response.end();
  return true;
}

function closeWith(socket: Socket, refusal: Refusal, id: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problemOf(refusal, id));
  const headers = Object.entries({ ...problemHeaders(refusal), 'x-request-id': id, connection: 'close' });
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(
    `HTTP/1.1 ${errors[refusal.code].status} Refused\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
