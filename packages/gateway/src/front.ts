// One listener of a Gateway, on which its workload reaches the services behind it.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { createStrictServer, type Pace, type StrictServerOptions } from '@platform/http';
import type { Activity } from './activity.ts';
import type { ByteMeter } from './byte-meter.ts';
import type { DescriptorShare } from './descriptor-budget.ts';
import { createRouter } from './router.ts';
import type { ServiceRegistry } from './services/registry.ts';

/**
 * What `http.Server.listen` accepts: a TCP address (loopback), a Unix socket, an open handle, or a server that already
 * listens and whose handle is taken over.
 */
export type ListenTarget =
  | Server
  | { readonly port: number; readonly host: string }
  | { readonly path: string }
  | { readonly fd: number };

export interface FrontOptions extends Pick<StrictServerOptions, 'readTarget' | 'onFault'> {
  readonly listen: ListenTarget;
  /**
   * `Host` values under which the workload addresses it, lower case with port. Default: `127.0.0.1` and `localhost` with
   * the TCP port of the listener, or with any port on a Unix socket or inherited handle, whose far port only its bridge
   * knows.
   */
  readonly hosts: readonly string[] | undefined;
  readonly gatewayCredential: string;
  readonly services: ServiceRegistry;
  readonly activity: Activity;
  readonly share: DescriptorShare;
  readonly meter: ByteMeter;
  /** Of all refusals of the Gateway together. */
  readonly pace: Pace;
  /** The listener could not accept a connection; it keeps listening. */
  onFailure(reason: string): void;
}

export interface Front {
  /** As `net.Server.address()`. */
  address(): AddressInfo | string | null;
  /** Takes no new connections; resolves when the last one has ended. */
  close(): Promise<void>;
  /** Breaks off the connections that are left. */
  cut(): void;
}

/**
 * Connections that wait to be accepted; the kernel's own limit is the same by default. One beyond it is tried again
 * after 1, 2, 4 and more seconds, so a burst of a workload would take half a minute.
 */
const ACCEPT_QUEUE = 4_096;

/**
 * Idle connections live as long as their peer, which is on this machine, so its end is always seen: a timer per request
 * would guard against nothing. They cost memory in a process that serves every installation of the node.
 */
const LISTENER_LIMITS = { requestMilliseconds: 300_000, keepAliveMilliseconds: 0 };

/** Names of a listener without configured hosts: the loopback address, with any port. */
const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?$/;

/** Rejects when the address cannot be bound. */
export async function openFront(options: FrontOptions): Promise<Front> {
  const { activity, share, readTarget } = options;
  let hosts = options.hosts === undefined ? null : new Set(options.hosts);
  const server = createStrictServer({
    isOwnHost: (host) => (hosts === null ? LOOPBACK_HOST.test(host) : hosts.has(host)),
    ...(readTarget === undefined ? {} : { readTarget }),
    onRequest: createRouter(options),
    paceRefusals: (_socket, refusals) => options.pace.next(refusals),
    onBegin: activity.out.begin,
    onEnd: activity.out.end,
    onFault: options.onFault,
    admits(socket) {
      share.begin();
      socket.once('close', share.end);
      return !share.isOver();
    },
    limits: LISTENER_LIMITS,
  });
  server.on('connection', options.meter.watch);
  server.listen({ ...options.listen, backlog: ACCEPT_QUEUE });
  await once(server, 'listening');
  server.on('error', (error: Error & { code?: string }) => options.onFailure(error.code ?? error.name));
  const address = server.address();
  if (hosts === null && address !== null && typeof address === 'object') {
    hosts = new Set([`127.0.0.1:${address.port}`, `localhost:${address.port}`]);
  }
  return {
    address: () => server.address(),
    async close() {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
    cut: () => server.closeAllConnections(),
  };
}
