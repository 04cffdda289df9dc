// The accepting side of links: TLS 1.3 in front of an HTTP server that is there already, under a key of its own. The
// connecting side proves its key as well, and what connections may do depends on whether that key is known.
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { clientNetwork } from '@platform/contract';
import { publicKeyShown } from './connect.ts';
import type { LinkKey } from './key.ts';
import { linkCertificate } from './own-certificate.ts';

/** Who is at the other end of a connection. */
export interface LinkPeer {
  /** The key that was proven in this connection's handshake, 32 bytes. */
  readonly key: Buffer;
  readonly known: boolean;
}

export interface LinkLimits {
  /** Connections of one known key. Default 1,024. */
  readonly ofKey: number;
  /** Connections of all known keys. Default 8,192. */
  readonly ofKnown: number;
  /** Connections of one address (one /64 of IPv6) that have proven no known key: a newer one ends the oldest. Default 64. */
  readonly strangersOfAddress: number;
  /** The same of all addresses. Default 1,024. */
  readonly strangers: number;
  /** Milliseconds that a connection without a known key lives. Default 20,000. */
  readonly strangerMilliseconds: number;
}

export interface AcceptOptions {
  readonly key: LinkKey;
  readonly host: string;
  readonly port: number;
  /** Whether a part with this key may connect. What it throws ends the connection. */
  readonly isKnown: (key: Buffer) => boolean | Promise<boolean>;
  /**
   * What becomes of connections with another key. `refused`: they end without a word. `served`: the HTTP server gets them
   * and must look at {@link linkPeer}. Default `refused`. Without any key they are always refused.
   */
  readonly strangers?: 'refused' | 'served';
  readonly limits?: Partial<LinkLimits>;
}

export interface LinkListener {
  readonly port: number;
  /** Ends the connections whose keys are not known any more. */
  recheck(): Promise<void>;
  /** Takes no new connections and ends those that are open. */
  close(): Promise<void>;
}

interface Connection {
  readonly socket: Socket;
  readonly network: string;
  /** Ends the connection if it has not proven a known key by then. */
  readonly late: NodeJS.Timeout;
  /** The key that it proved, as text. */
  key: string | null;
}

const HANDSHAKE_MILLISECONDS = 10_000;
const defaultLimits: LinkLimits = {
  ofKey: 1_024,
  ofKnown: 8_192,
  strangersOfAddress: 64,
  strangers: 1_024,
  strangerMilliseconds: 20_000,
};

const peers = new WeakMap<Socket, LinkPeer>();

/** Who proved a key on this connection; `undefined` for one that came by no link. */
export function linkPeer(socket: Socket): LinkPeer | undefined {
  return peers.get(socket);
}

/**
 * Lets `server` answer over TLS as well. It sees the connections as its own: its time limits and closing apply.
 *
 * @throws Error when the address cannot be bound
 */
export async function acceptLinks(server: Server, options: AcceptOptions): Promise<LinkListener> {
  const limits = { ...defaultLimits, ...options.limits };
  const open = new Open(limits);
  const listener = createServer({
    ...(await linkCertificate(options.key)),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_MILLISECONDS,
    requestCert: true,
    // No authority vouches for self-signed certificates: the proven key is looked at below.
    rejectUnauthorized: false,
    // A resumed session would prove nothing anew.
    secureOptions: constants.SSL_OP_NO_TICKET,
  });

  async function admit(socket: TLSSocket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const connection = open.of(socket);
    const key = socket.isSessionReused() ? null : publicKeyShown(socket);
    if (connection === undefined || key === null) {
      socket.destroy();
      return;
    }
    // Noted before the question, so that a recheck in between sees this connection as well.
    connection.key = key.toString('base64url');
    const known = await options.isKnown(key);
    if (socket.destroyed) return;
    if (known ? !open.promote(connection) : options.strangers !== 'served') {
      socket.destroy();
      return;
    }
    peers.set(socket, { key, known });
    server.emit('connection', socket);
  }

  listener.on('connection', (socket) => open.add(socket));
  listener.on('secureConnection', (socket) => void admit(socket).catch(() => socket.destroy()));
  // Drop failed TLS handshakes silently.
  listener.on('tlsClientError', (_error, socket) => socket.destroy());
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    async recheck() {
      for (const key of open.keys()) {
        if (!(await options.isKnown(Buffer.from(key, 'base64url')))) open.end(key);
      }
    },
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      open.endAll();
      await closed;
    },
  };
}

/** The connections that are open, and how many of which kind may be. */
class Open {
  readonly #limits: LinkLimits;
  readonly #all = new Map<string, Connection>();
  /** Without a known key, in the order in which they came; of all addresses, and of each. */
  readonly #strangers = new Set<Connection>();
  readonly #ofNetwork = new Map<string, Set<Connection>>();
  readonly #known = new Map<string, Set<Connection>>();

  constructor(limits: LinkLimits) {
    this.#limits = limits;
  }

  /** A flood ends its own oldest connections, so that a part with a known key gets through in between. */
  add(socket: Socket): void {
    const late = setTimeout(() => socket.destroy(), this.#limits.strangerMilliseconds);
    const network = clientNetwork(socket.remoteAddress ?? '');
    const connection: Connection = { socket, network, late, key: null };
    const place = placeOf(socket);
    this.#all.set(place, connection);
    this.#strangers.add(connection);
    const ofNetwork = memberOf(this.#ofNetwork, network);
    ofNetwork.add(connection);
    socket.on('close', () => {
      clearTimeout(late);
      if (this.#all.get(place) === connection) this.#all.delete(place);
      this.#leaveStrangers(connection);
      if (connection.key !== null) leave(this.#known, connection.key, connection);
    });
    const oldest = ofNetwork.size > this.#limits.strangersOfAddress ? ofNetwork : this.#strangers;
    if (oldest === ofNetwork || oldest.size > this.#limits.strangers) {
      for (const first of oldest) {
        this.#leaveStrangers(first);
        first.socket.destroy();
        break;
      }
    }
  }

  /** The connection below a TLS socket. */
  of(socket: TLSSocket): Connection | undefined {
    return this.#all.get(placeOf(socket));
  }

  /** Counts it among those of its key. Returns false where there are too many. */
  promote(connection: Connection): boolean {
    const { key } = connection;
    if (key === null) return false;
    const ofKey = this.#known.get(key)?.size ?? 0;
    const ofKnown = this.#all.size - this.#strangers.size;
    if (ofKey >= this.#limits.ofKey || ofKnown >= this.#limits.ofKnown) return false;
    clearTimeout(connection.late);
    this.#leaveStrangers(connection);
    memberOf(this.#known, key).add(connection);
    return true;
  }

  /** Keys that were proven, known or not. */
  keys(): Set<string> {
    return new Set([...this.#all.values()].flatMap(({ key }) => (key === null ? [] : [key])));
  }

  end(key: string): void {
    for (const connection of this.#all.values()) if (connection.key === key) connection.socket.destroy();
  }

  endAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy();
  }

  #leaveStrangers(connection: Connection): void {
    this.#strangers.delete(connection);
    leave(this.#ofNetwork, connection.network, connection);
  }
}

function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function memberOf(groups: Map<string, Set<Connection>>, name: string): Set<Connection> {
  const group = groups.get(name) ?? new Set();
  groups.set(name, group);
  return group;
}

function leave(groups: Map<string, Set<Connection>>, name: string, connection: Connection): void {
  const group = groups.get(name);
  group?.delete(connection);
  if (group?.size === 0) groups.delete(name);
}
