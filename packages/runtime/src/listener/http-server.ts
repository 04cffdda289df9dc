// One listener of the node: the strict server of packages/http, plain or under the node's key, with an id on every
// answer.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { RefusalError } from '@platform/contract';
import {
  createStrictServer,
  endFaulty,
  endWithProblem,
  faultOf,
  type IncomingRequest,
  type IncomingUpgrade,
  listenFast,
  placeToListen,
  type ServerLimits,
  sendProblem,
} from '@platform/http';
import { acceptLinks, type IrohEndpoint, type LinkKey, type LinkLimits } from '@platform/link';
import type { Log } from '../clock.ts';

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Serves TLS under this key, or a service of iroh, instead of plain HTTP, and only to peers whose keys are known. */
  readonly link?: {
    readonly key: LinkKey;
    readonly isKnown: (key: Buffer) => boolean;
    readonly limits?: Partial<LinkLimits>;
    readonly iroh?: { readonly endpoint: IrohEndpoint; readonly service: string };
  };
  /** Every answer says that this host is reached over https only (RFC 6797). Default: no. */
  readonly strictTransport?: boolean;
  /** Whether a `Host` value (lower case) names this server. */
  readonly isOwnHost: (host: string) => boolean;
  readonly handle: (incoming: IncomingRequest) => Promise<void> | void;
  /** Takes over WebSocket handshakes. Default: they are requests like any other. */
  readonly connect?: (incoming: IncomingUpgrade) => Promise<void>;
  /** Browsers reach this listener, so it answers a head full of cookies as the strict server does for them. */
  readonly browsers?: true;
  /** Default: those of a listener that browsers or core reach. */
  readonly limits?: Partial<ServerLimits>;
  readonly log: Log;
}

export interface HttpServer {
  readonly port: number;
  /** Ends the connections of peers whose keys are not known any more. */
  recheck(): Promise<void>;
  /** Takes no new connections, gives running requests `graceMilliseconds`, then breaks them off. */
  close(graceMilliseconds: number): Promise<void>;
}

const CONNECTIONS = 4_096;
const CONNECTIONS_PER_ADDRESS = 512;

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { connect, log } = options;
  /** Node counts these no longer among its own. */
  const upgraded = new Set<Socket>();
  const server = createStrictServer({
    isOwnHost: options.isOwnHost,
    strictTransport: options.strictTransport ?? false,
    onRequest: (incoming) => void receive(options, incoming),
    ...(connect === undefined
      ? {}
      : {
          onUpgrade(incoming) {
            const { socket } = incoming;
            upgraded.add(socket);
            socket.once('close', () => upgraded.delete(socket));
            void receiveUpgrade(connect, incoming, log);
          },
        }),
    onFault: (error) => log.error(faultOf(error), 'a request to the node failed'),
    ...(options.browsers === undefined ? {} : { browsers: options.browsers }),
    limits: { connections: CONNECTIONS, connectionsPerAddress: CONNECTIONS_PER_ADDRESS, ...options.limits },
  });
  if (options.link?.iroh !== undefined) return overIroh(server, options.link, options.link.iroh);
  if (options.link !== undefined) return behindTls(server, options, options.link);
  server.listen(await placeToListen(options));
  await once(server, 'listening');
  const sockets = await listenFast(server);
  return {
    port: portOf(server),
    recheck: async () => undefined,
    close(grace) {
      sockets.close();
      return close(server, grace, upgraded);
    },
  };
}

async function behindTls(
  server: Server,
  { host, port }: HttpServerOptions,
  link: NonNullable<HttpServerOptions['link']>,
): Promise<HttpServer> {
  const listener = await acceptLinks(server, { ...link, host, port });
  return { port: listener.port, recheck: () => listener.recheck(), close: () => listener.close() };
}

function overIroh(
  server: Server,
  { isKnown, limits }: NonNullable<HttpServerOptions['link']>,
  { endpoint, service }: { readonly endpoint: IrohEndpoint; readonly service: string },
): HttpServer {
  const listener = endpoint.offer({ name: service, server, isKnown, ...(limits === undefined ? {} : { limits }) });
  return { port: endpoint.port, recheck: () => listener.recheck(), close: async () => listener.close() };
}

async function receive({ handle, log }: HttpServerOptions, incoming: IncomingRequest): Promise<void> {
  const { res } = incoming;
  const requestId = randomUUID();
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.on('error', () => res.destroy());
  try {
    await handle(incoming);
  } catch (error) {
    if (error instanceof RefusalError && !res.headersSent) sendProblem(res, error.refusal);
    else {
      log.error({ requestId, err: error }, 'a request to the node failed');
      endFaulty(res);
    }
  }
}

async function receiveUpgrade(
  accept: (incoming: IncomingUpgrade) => Promise<void>,
  incoming: IncomingUpgrade,
  log: Log,
): Promise<void> {
  const { socket } = incoming;
  try {
    await accept(incoming);
  } catch (error) {
    if (error instanceof RefusalError) endWithProblem(socket, error.refusal);
    else {
      log.error({ err: error }, 'a WebSocket of the node failed');
      endWithProblem(socket, { code: 'internal_error' });
    }
  }
}

async function close(server: Server, graceMilliseconds: number, upgraded: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => {
    server.closeAllConnections();
    for (const socket of upgraded) socket.destroy();
  }, graceMilliseconds);
  await closed;
  clearTimeout(timer);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The node listener has no port.');
  return address.port;
}
