// Where clients connect over TLS: the certificate is chosen by the name that they ask for (SNI), and the connection is
// handed on under the protocol that was agreed (ALPN).
//
// A client that asks for no name, or for one without a certificate, gets none: no public name could be meant, and any
// certificate would tell a stranger who scans addresses what is served here.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type SecureContext, type TLSSocket } from 'node:tls';
import { countPerAddress, listenFast, placeToListen } from '@platform/http';
import type { Certificate } from './certificate.ts';
import type { CertificateSource } from './certificate-source.ts';
import { openHandshakeTurns } from './handshake-turns.ts';
import { SECURE_CONTEXT } from './protocol.ts';

export type ClientProtocol = 'h2' | 'http/1.1';

export interface TlsListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certificates: Pick<CertificateSource, 'current' | 'obtain'>;
  /** Takes a connection whose handshake is complete. */
  serve(socket: TLSSocket, protocol: ClientProtocol): void;
  /** A certificate could not be looked up; the handshake fails. */
  onFault(error: unknown): void;
  readonly limits?: Partial<TlsLimits>;
}

export interface TlsLimits {
  /** Connections at a time, those in their handshake included; one over it is closed without an answer. */
  readonly connections: number;
  /** Of them from one address (`clientNetwork`: one /64 of IPv6), but for the loopback interface. */
  readonly connectionsPerAddress: number;
  /** Handshakes that wait for a certificate which is being obtained. */
  readonly waitingHandshakes: number;
  /** Milliseconds to a complete handshake. */
  readonly handshakeMilliseconds: number;
}

export interface TlsListener {
  readonly port: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Handshakes that came to nothing since the start. */
  readonly failedHandshakes: number;
  /** Takes no new connections; resolves when those that were open have ended. */
  drain(): Promise<void>;
  /** Ends those that are open. */
  end(): void;
}

const defaultLimits: TlsLimits = {
  connections: 16_384,
  connectionsPerAddress: 1_024,
  waitingHandshakes: 256,
  handshakeMilliseconds: 10_000,
};

/** Keys of tickets stay this long, so that what they protect can be decrypted afterwards by nobody. */
const TICKET_KEY_MILLISECONDS = 12 * 3_600_000;
const TICKET_KEY_BYTES = 48;
/** Seconds for which a session may be resumed. */
const SESSION_SECONDS = 3_600;
const HOST_NAME = /^[a-z0-9_.-]{1,253}$/;

/** What the clients of connections have proof of. */
const proven = new WeakMap<Duplex, Pick<Certificate, 'covers'>>();

/**
 * Whether the certificate that a client got on its connection names this host, so that the client may ask for it here
 * (RFC 9110 section 7.4, RFC 9113 section 9.1.1). The name it asked for in the handshake needs not be the same: browsers
 * use one connection for all names of a certificate.
 *
 * @param host lower case, with or without port
 */
export function certificateCovers(connection: Duplex, host: string): boolean {
  const name = host.replace(/:\d+$/, '');
  return proven.get(connection)?.covers(name) === true;
}

/** @throws Error when the address cannot be bound */
export async function listenTls(options: TlsListenerOptions): Promise<TlsListener> {
  const limits = { ...defaultLimits, ...options.limits };
  const { certificates: source } = options;
  let waiting = 0;
  const open = new Set<Socket>();
  let isDraining = false;
  const drained = Promise.withResolvers<void>();
  let failedHandshakes = 0;

  async function contextFor(requested: string): Promise<SecureContext | null> {
    const host = requested.toLowerCase();
    if (!HOST_NAME.test(host)) return null;
    const certificate = source.current(host);
    if (certificate !== null) return certificate.context;
    if (source.obtain === undefined || waiting >= limits.waitingHandshakes) return null;
    waiting += 1;
    try {
      return (await source.obtain(host))?.context ?? null;
    } finally {
      waiting -= 1;
    }
  }

  /** Does the handshakes of the connections that the listener below takes. */
  const server = createTlsServer({
    ...SECURE_CONTEXT,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: limits.handshakeMilliseconds,
    sessionTimeout: SESSION_SECONDS,
    // Without a context the handshake goes on with that of this server, which has no certificate, and so fails.
    SNICallback: (requested, callback) => {
      contextFor(requested).then(
        (context) => callback(null, context ?? undefined),
        (error: unknown) => {
          options.onFault(error);
          callback(null, undefined);
        },
      );
    },
  });
  const rotation = setInterval(() => server.setTicketKeys(randomBytes(TICKET_KEY_BYTES)), TICKET_KEY_MILLISECONDS);
  rotation.unref();

  server.on('secureConnection', (socket) => {
    // One end of a WebSocket may end before the other.
    socket.allowHalfOpen = true;
    socket.on('error', () => socket.destroy());
    const certificate = provenOn(socket, source);
    if (certificate === null) {
      socket.destroy();
      return;
    }
    proven.set(socket, certificate);
    options.serve(socket, socket.alpnProtocol === 'h2' ? 'h2' : 'http/1.1');
  });
  // Drop failed TLS handshakes silently.
  server.on('tlsClientError', (_error, socket) => {
    failedHandshakes += 1;
    socket.destroy();
  });
  const perAddress = countPerAddress(limits.connectionsPerAddress);
  const atItsTurn = openHandshakeTurns(limits.handshakeMilliseconds);
  const listener = createServer({ allowHalfOpen: true, noDelay: true });
  listener.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      if (isDraining && open.size === 0) drained.resolve();
    });
    // A client that leaves in its handshake would hold its place until the handshake's time is over.
    socket.allowHalfOpen = false;
    if (!perAddress(socket) || open.size > limits.connections) socket.destroy();
    else atItsTurn(socket, () => server.emit('connection', socket));
  });
  listener.listen(await placeToListen(options));
  await once(listener, 'listening');
  const more = await listenFast(listener);
  const { port } = listener.address() as AddressInfo;
  return {
    port,
    get connections() {
      return open.size;
    },
    get failedHandshakes() {
      return failedHandshakes;
    },
    drain() {
      clearInterval(rotation);
      if (!isDraining) {
        more.close();
        listener.close();
      }
      isDraining = true;
      if (open.size === 0) drained.resolve();
      return drained.promise;
    },
    end() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** What is known of the certificate of a connection whose handshake is over; `null` where there is none any more. */
function provenOn(socket: TLSSocket, source: Pick<CertificateSource, 'current'>): Pick<Certificate, 'covers'> | null {
  const { servername } = socket;
  // A resumed session asks for no certificate: what would be served for its name now decides.
  if (typeof servername === 'string') return source.current(servername.toLowerCase());
  // Of a resumed session of TLS 1.2 OpenSSL gives no name. Its client has proof of one of the certificates here.
  return socket.isSessionReused() ? { covers: (host) => source.current(host) !== null } : null;
}
