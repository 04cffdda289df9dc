// HTTP/1.1 in front of the front: the strict server with the limits for strangers, plain, or behind whatever ends TLS.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createStrictServer, faultOf, listenFast, placeToListen, type StrictServerOptions } from '@platform/http';
import type { Client } from './client-address.ts';
import type { Front } from './front.ts';
import { HEAD_MILLISECONDS, type IngressLimits } from './limits.ts';
import type { Log } from './log.ts';

/** WebSockets included. */
const CONNECTIONS = 16_384;
/** Of one client network, where no proxy stands before the clients. */
const CONNECTIONS_PER_NETWORK = 512;
/** Heads that are late end so much later at most. */
const LOOK_MILLISECONDS = 2_000;
/** Between two looks for connections that have become idle, while it stops. */
export const IDLE_LOOK_MILLISECONDS = 50;

export interface ServerOptions {
  readonly front: Front;
  /** What clients speak on its connections. */
  readonly protocol: Client['protocol'];
  readonly limits: IngressLimits;
  /** Trusted proxies stand before it: all clients have their addresses. */
  readonly behindProxies: boolean;
  readonly log: Log;
}

/** The front as a strict server, whatever the protocol below it. */
export function publicServerOptions({
  front,
  protocol,
  limits,
  behindProxies,
  log,
}: ServerOptions): StrictServerOptions {
  const connectionOf = (socket: Duplex): Client => ({ address: addressOf(socket), protocol });
  return {
    isOwnHost: (host) => front.isOwnHost(host),
    onRequest: (incoming) => front.receive(incoming, connectionOf(incoming.req.socket)),
    hasWebSocket: (req) => front.hasWebSocket(req),
    onUpgrade: (incoming) => front.receiveUpgrade(incoming, connectionOf(incoming.socket)),
    onFault: (error) => log.error(faultOf(error), 'a public request failed'),
    onRefused: (refusal, socket, req) => front.refused(refusal, connectionOf(socket), req),
    paceRefusals: (socket, refusals) => front.paceRefusals(connectionOf(socket), refusals),
    strictTransport: protocol === 'https',
    // A page of one app can set cookies for the domain that all public names share.
    browsers: true,
    limits: {
      connections: CONNECTIONS,
      connectionsPerAddress: behindProxies ? CONNECTIONS : CONNECTIONS_PER_NETWORK,
      headBytes: limits.headBytes,
      headMilliseconds: HEAD_MILLISECONDS,
      lookMilliseconds: LOOK_MILLISECONDS,
    },
  };
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections; resolves when those that were open have ended, idle ones at once. */
  drain(): Promise<void>;
  /** Breaks off what is still open. */
  end(): void;
}

/** @throws Error when the address cannot be bound */
export async function listenPlain(
  options: StrictServerOptions,
  place: { readonly host: string; readonly port: number },
): Promise<Listener> {
  const server = createStrictServer(options);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(await placeToListen(place));
  await once(server, 'listening');
  const more = await listenFast(server);
  return {
    port: (server.address() as AddressInfo).port,
    async drain() {
      more.close();
      server.close();
      // Node counts only those connections that its own socket accepted, and closes those that are idle now.
      while (sockets.size > 0) {
        server.closeIdleConnections();
        await delay(IDLE_LOOK_MILLISECONDS);
      }
    },
    end() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function addressOf(socket: Duplex): string {
  return 'remoteAddress' in socket && typeof socket.remoteAddress === 'string' ? socket.remoteAddress : '';
}
