// The API of core on fastify: request ids, CORS, one place that turns refusals and bugs into answers.
import type http from 'node:http';
import { clientNetwork, type Refusal, RefusalError, TOPOLOGY_STREAM } from '@platform/contract';
import { isTraceparent, sendProblem } from '@platform/http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Log } from '../../context.ts';
import { onBehalfOf } from '../../database/fair-pool.ts';
import { isNoMore } from '../../database/missing-reference.ts';
import { isDeadlock } from '../../database/until-no-deadlock.ts';
import type { AnsweredRequest } from '../../metrics.ts';
import { isAppOrigin } from '../callers/origins.ts';
import type { ConnectServer, Fields } from './connect-server.ts';
import { createListener } from './listener.ts';
import { crossOriginMethods, type RouteTableOptions, registerRoutes } from './route-table.ts';

export interface ServerOptions extends RouteTableOptions {
  readonly log: Log;
  readonly random: (bytes: number) => Buffer;
  /** Called for every answered request of the API. */
  readonly answered?: (request: AnsweredRequest) => void;
  readonly connect: ConnectServer;
  readonly serveShell: (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>;
  readonly serveApp: (
    request: http.IncomingMessage,
    response: http.ServerResponse,
    host: { readonly appId: string; readonly hostLabel: string },
  ) => Promise<void>;
}

/** An answer is data: no page is made of it, and no page elsewhere draws or reads it. */
const DATA = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
};

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, log, pacing } = options;
  async function refuseRequest(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): Promise<void> {
    await pacing.refusal(request, refusal);
    const { origin } = request.headers;
    const fields = options.connect.fields(pathOf(request.url), { origin, refused: refusal }) ?? {};
    sendRefusal(reply, refusal, { requestId: request.id, fields });
  }

  const requestId = () => options.random(12).toString('base64url');
  const app = fastify({
    logger: false,
    genReqId: requestId,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 600, ignoreTrailingSlash: false },
    return503OnClosing: false,
    // The strict server answers broken requests; fastify would write a second answer.
    clientErrorHandler: () => undefined,
    schemaController: { compilersFactory: noCompilers },
    forceCloseConnections: true,
    frameworkErrors: (_error, request, reply) => void refuseRequest(request, reply, { code: 'invalid_path' }),
    serverFactory: (api) => createListener(options, api as Parameters<typeof createListener>[1], requestId),
  });
  // Bodies are read by the route table, within the limit of the route; fastify leaves them alone.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).headers(DATA).header('vary', 'Origin');
    const { traceparent, origin } = request.headers;
    if (typeof traceparent === 'string' && isTraceparent(traceparent)) reply.header('traceparent', traceparent);
    const fields = options.connect.fields(pathOf(request.url), { origin, refused: null });
    if (fields !== null) reply.headers(fields);
    // A page of a connected client asks before it sends its token.
    if (fields !== null && origin !== undefined && request.method === 'OPTIONS')
      return reply.header('access-control-allow-methods', 'POST').code(204).send();
    if (origin !== undefined && isAppOrigin(origin, config) && crossOriginMethods(pathOf(request.url)).length > 0) {
      reply.header('access-control-allow-origin', origin);
      reply.header('access-control-expose-headers', 'X-Request-Id, Retry-After, ETag');
    }
  });
  const { answered } = options;
  if (answered !== undefined) {
    app.addHook('onResponse', async (request, reply) => {
      const type = String(reply.raw.getHeader('content-type') ?? '');
      const isStream = type.startsWith('text/event-stream') || type === TOPOLOGY_STREAM;
      const route = request.routeOptions.url ?? null;
      answered({ route, status: reply.raw.statusCode, seconds: reply.elapsedTime / 1_000, isStream });
    });
  }
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof RefusalError) {
      if (error.refusal.code === 'origin_not_allowed') reply.removeHeader('access-control-allow-origin');
      return refuseRequest(request, reply, error.refusal);
    }
    const failure = error instanceof Error ? error : new Error(String(error));
    // Such as a Content-Type that is none: fastify reads it before any route does.
    if ('code' in failure && String(failure.code).startsWith('FST_ERR_CTP_'))
      return refuseRequest(request, reply, { code: 'unsupported_media_type' });
    // The client disconnected while sending its body, so no one receives this answer. PostgreSQL may reset a connection
    // as well, and then the client does.
    if (request.raw.destroyed && !request.raw.complete) return reply.code(400).send();
    if (isConnectionFailure(failure)) {
      log.error({ requestId: request.id, err: failure }, 'the database does not answer');
      return refuseRequest(request, reply, { code: 'unavailable', retryAfter: 2 });
    }
    if (isDeadlock(failure)) {
      log.warn({ requestId: request.id, route: request.routeOptions.url, err: failure }, 'a request met another one');
      const detail = 'Something else changed the same at this moment. Nothing has changed; try again.';
      return refuseRequest(request, reply, { code: 'unavailable', detail, retryAfter: 1 });
    }
    if (isNoMore(failure)) {
      log.warn({ requestId: request.id, route: request.routeOptions.url, err: failure }, 'a request came too late');
      // Asked again, the route finds out whose end it was, and says so.
      const detail = 'Something that this belongs to was removed at this moment. Nothing has changed; try again.';
      return refuseRequest(request, reply, { code: 'unavailable', detail, retryAfter: 1 });
    }
    log.error({ requestId: request.id, route: request.routeOptions.url, err: failure }, 'a request failed');
    return refuseRequest(request, reply, { code: 'internal_error' });
  });
  app.setNotFoundHandler((request, reply) => refuseRequest(request, reply, { code: 'not_found' }));
  registerRoutes(app, options);
  registerConnect(app, options.connect);
  return app;
}

/** What clients outside the platform reach beside the routes of the contract. */
function registerConnect(app: FastifyInstance, connect: ConnectServer): void {
  for (const url of ['/oauth/*', '/.well-known/*']) {
    app.all(url, (request, reply) =>
      onBehalfOf(clientNetwork(request.ip), async () => {
        await connect.answer(request, reply);
        return reply;
      }),
    );
  }
}

/** The route table checks what comes in and goes out; fastify need not load its own validator for that. */
const noCompilers = {
  buildValidator: () => noSchema,
  buildSerializer: () => noSchema,
};

function noSchema(): never {
  throw new Error('no route has a schema of its own');
}

/** Past fastify, which would end the answer before the rest of a refused body has been read away. */
function sendRefusal(
  reply: FastifyReply,
  refusal: Refusal,
  more: { readonly requestId: string; readonly fields: Fields },
): void {
  reply.hijack();
  if (reply.raw.headersSent) return;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  sendProblem(reply.raw, refusal, more);
}

/**
 * PostgreSQL is away: connection refused or lost, pool exhausted, shutting down (class 57P, 08, 53), or a server that follows
 * another and takes no writes (25006).
 */
function isConnectionFailure(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(57P0|08|53|25006)/.test(code) ||
    ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'].includes(code) ||
    /timeout exceeded when trying to connect|Connection terminated|connection error and is not queryable/.test(
      error.message,
    )
  );
}

function pathOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}
