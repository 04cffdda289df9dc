// The listener of core: dispatch by host to the API, the shell's files or an app's files.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { checkRequestTarget, clientNetwork, type Refusal, type RequestTarget } from '@platform/contract';
import { createStrictServer, faultOf, hold, type IncomingRequest, sendProblem } from '@platform/http';
import { linkPeer } from '@platform/link';
import { type CoreConfig, connectOrigin, originParts, servicesOrigin } from '../../config/config.ts';
import { onBehalfOf } from '../../database/fair-pool.ts';
import type { Callers } from '../callers/callers.ts';
import { refusalOverLink } from '../callers/link-routes.ts';
import { isAppOrigin, parseAppHost } from '../callers/origins.ts';
import { matrixDocuments, serveMatrixDocument } from './matrix-documents.ts';
import { isPageVisit, writeWrongHostPage } from './plain-page.ts';
import { crossOriginMethods } from './route-table.ts';
import type { ServerOptions } from './server.ts';

const OWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const CROSS_ORIGIN_HEADERS =
  'authorization, content-type, if-match, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, traceparent, tracestate';

/** Behind proxies all clients have few addresses; they limit connections themselves. */
const CONNECTIONS = 8_192;
const CONNECTIONS_PER_ADDRESS = 512;

export interface ListenerOptions extends Pick<ServerOptions, 'connect' | 'log' | 'pacing' | 'serveShell' | 'serveApp'> {
  readonly callers: Pick<Callers, 'schemes'>;
  readonly config: Pick<CoreConfig, 'origin' | 'appsDomain' | 'trustedProxies' | 'messaging'>;
}

/** The server behind every host of core. `api` is fastify's handler; `requestId` names each answer. */
export function createListener(
  options: ListenerOptions,
  api: (request: IncomingMessage, response: ServerResponse) => void,
  requestId: () => string,
): Server {
  const { config, log, pacing } = options;
  const shellHost = new URL(config.origin).host;
  const servicesHost = new URL(servicesOrigin(config)).host;
  const connectHost = new URL(connectOrigin(config)).host;
  const hasApi = (host: string) => host === shellHost || host === servicesHost;
  const isChecked = (host: string) => hasApi(host) || host === connectHost;
  const { scheme, port } = originParts(config);
  const matrixDocument = matrixDocuments(config.messaging);
  const refusedOverLink = refusalOverLink(options.callers.schemes);

  function dispatch({ req, res, head, path }: IncomingRequest): void {
    res.sendDate = true;
    if (!OWN_METHODS.has(req.method ?? '')) {
      refuse(res, { code: 'method_not_allowed', allow: [...OWN_METHODS] });
      return;
    }
    const host = head.host.toLowerCase();
    const peer = linkPeer(req.socket);
    const refused = peer === undefined ? null : refusedOverLink(peer, host === shellHost ? path : '');
    if (refused !== null) {
      refuse(res, refused);
      return;
    }
    const document = matrixDocument(host, path);
    if (document !== undefined)
      serve(res, async () => serveMatrixDocument(req, res, { document, requestId: requestId() }));
    else if (host === connectHost && options.connect.isPath(path)) api(req, res);
    else if (!hasApi(host)) {
      const hostname = host.endsWith(port) ? host.slice(0, host.length - port.length) : '';
      const appHost = parseAppHost(hostname, config.appsDomain);
      if (appHost !== null) serve(res, () => options.serveApp(req, res, appHost));
      else if (isPageVisit(req)) writeWrongHostPage(res, config.origin, requestId());
      else refuse(res, { code: 'unknown_host', detail: `Open ${config.origin} instead.` });
    } else if (host === servicesHost && crossOriginMethods(path).length === 0) refuse(res, { code: 'not_found' });
    else if (path !== '/v1' && !path.startsWith('/v1/')) serve(res, () => options.serveShell(req, res));
    else if (req.method !== 'OPTIONS' || !preflight(req, res, { path, config, requestId })) api(req, res);
  }

  function refuse(res: ServerResponse, refusal: Refusal): void {
    const held = hold(pacing.refusalsOn(res.req.socket, 1), () =>
      sendProblem(res, refusal, { requestId: requestId() }),
    );
    if (held !== null) res.once('close', held.abandon);
  }

  function serve(res: ServerResponse, file: () => Promise<void>): void {
    const held = hold(pacing.file(res.req), () => {
      onBehalfOf(clientNetwork(res.req.socket.remoteAddress ?? ''), file).catch((error: unknown) => {
        log.error({ err: error }, 'a file could not be served');
        if (res.headersSent) res.destroy();
        else sendProblem(res, { code: 'internal_error' }, { requestId: requestId() });
      });
    });
    if (held !== null) res.once('close', held.abandon);
  }

  return createStrictServer({
    strictTransport: scheme === 'https',
    // Distinguished above: a person who opened another host name gets a link to the right one.
    isOwnHost: () => true,
    readTarget: (target, host) => (isChecked(host.toLowerCase()) ? checkRequestTarget(target) : asItIs(target)),
    onRequest: (incoming) => void dispatch(incoming),
    onFault: (error) => log.error(faultOf(error), 'a request could not be handled'),
    browsers: true,
    paceRefusals: (socket, refusals) => pacing.refusalsOn(socket, refusals),
    limits: {
      connections: CONNECTIONS,
      connectionsPerAddress: config.trustedProxies.length > 0 ? CONNECTIONS : CONNECTIONS_PER_ADDRESS,
    },
  });
}

/** An app's files resolve dot segments within their package, and refuse the rest themselves. */
function asItIs(target: string): RequestTarget {
  const mark = target.indexOf('?');
  return mark === -1
    ? { ok: true, path: target, query: '' }
    : { ok: true, path: target.slice(0, mark), query: target.slice(mark) };
}

interface PreflightOptions {
  readonly path: string;
  readonly config: ListenerOptions['config'];
  readonly requestId: () => string;
}

/** @returns whether it was one of an app's frontend, which is answered */
function preflight(req: IncomingMessage, res: ServerResponse, { path, config, requestId }: PreflightOptions): boolean {
  const { origin } = req.headers;
  if (origin === undefined || !isAppOrigin(origin, config)) return false;
  const methods = crossOriginMethods(path);
  if (methods.length === 0) return false;
  res.writeHead(204, {
    'x-request-id': requestId(),
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': CROSS_ORIGIN_HEADERS,
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  });
  res.end();
  return true;
}
