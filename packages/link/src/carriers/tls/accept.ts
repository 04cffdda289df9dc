// The accepting side of direct links: TLS 1.3 in front of an HTTP server that is there already, under a key of its own.
// The connecting side proves its key as well, and what connections may do depends on whether that key is known.
import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { clientNetwork } from '@platform/contract';
import type { LinkKey } from '../../key.ts';
import { defaultLimits, type LinkLimits, type OpenConnection, OpenConnections } from '../../open-connections.ts';
import { setLinkPeer } from '../../peer.ts';
import { publicKeyShown } from './connect.ts';
import { linkCertificate } from './own-certificate.ts';

export interface AcceptOptions {
  readonly key: LinkKey;
  readonly host: string;
  readonly port: number;
  /** Whether a part with this key may connect. What it throws ends the connection. */
  readonly isKnown: (key: Buffer) => boolean | Promise<boolean>;
  /**
   * What becomes of connections with another key. `refused`: they end without a word. `served`: the HTTP server gets them
   * and must look at `linkPeer`. Default `refused`. Without any key they are always refused.
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

const HANDSHAKE_MILLISECONDS = 10_000;

/**
 * Lets `server` answer over TLS as well. It sees the connections as its own: its time limits and closing apply.
 *
 * @throws Error when the address cannot be bound
 */
export async function acceptLinks(server: Server, options: AcceptOptions): Promise<LinkListener> {
  const open = new OpenConnections({ ...defaultLimits, ...options.limits });
  /** By the address and port of the other side, which a TLS socket shares with the connection below it. */
  const byPlace = new Map<string, OpenConnection>();
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
    const connection = byPlace.get(placeOf(socket));
    const key = socket.isSessionReused() ? null : publicKeyShown(socket);
    if (connection === undefined || key === null) {
      socket.destroy();
      return;
    }
    // Noted before the question, so that a recheck in between sees this connection as well.
    connection.key = key.toString('base64url');
    const known = await options.isKnown(key);
    if (socket.destroyed) return;
    // Of one whose key nobody knew, as of a part that joins, there is nothing to end when others change theirs.
    if (!known) connection.key = null;
    if (known ? !open.promote(connection) : options.strangers !== 'served') {
      socket.destroy();
      return;
    }
    setLinkPeer(socket, { key, known });
    server.emit('connection', socket);
  }

  listener.on('connection', (socket) => {
    const place = placeOf(socket);
    const connection = open.add(socket, clientNetwork(socket.remoteAddress ?? ''));
    byPlace.set(place, connection);
    socket.on('close', () => {
      if (byPlace.get(place) === connection) byPlace.delete(place);
      open.remove(connection);
    });
  });
  listener.on('secureConnection', (socket) => void admit(socket).catch(() => socket.destroy()));
  // Drop failed TLS handshakes silently.
  listener.on('tlsClientError', (_error, socket) => socket.destroy());
  listener.listen(options.port, options.host);
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    recheck: () => open.recheck(options.isKnown),
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      open.endAll();
      await closed;
    },
  };
}

function placeOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
