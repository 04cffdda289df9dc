// The connecting side of links, for undici: a connection is handed out only after the other side has proven its key.
import type { Socket } from 'node:net';
import { type ConnectionOptions, TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import type { LinkCertificate } from './certificate.ts';
import { rawPublicKey } from './key.ts';

export interface LinkTarget {
  /** `http://address:port` or `https://address:port`: where the connection goes. */
  readonly origin: string;
  /** The key that the other side must prove, 32 bytes. Without it an https certificate must be valid for the name. */
  readonly key?: Buffer | undefined;
  /** The client certificate, sent over https if the server requests one. Default: none. */
  readonly certificate?: LinkCertificate | undefined;
  /** Milliseconds until a connection must stand. Default 5,000. */
  readonly connectTimeout?: number;
}

const CONNECT_MILLISECONDS = 5_000;

/**
 * No authority vouches for a self-signed certificate: who opens such a socket asks {@link provesKey} before all else.
 */
export const PINNED_TLS = { rejectUnauthorized: false, minVersion: 'TLSv1.3' } as const satisfies ConnectionOptions;

/** The key of the other side's certificate, with which TLS 1.3 has verified a signature; `null` for none of Ed25519. */
export function publicKeyShown(socket: TLSSocket): Buffer | null {
  const shown = socket.getPeerX509Certificate();
  return shown === undefined ? null : rawPublicKey(shown.publicKey);
}

export function provesKey(socket: Socket, key: Buffer): boolean {
  return socket instanceof TLSSocket && publicKeyShown(socket)?.equals(key) === true;
}

/** What makes the connections of an undici pool. `build` is undici's own `buildConnector`, of the caller's copy. */
export function linkConnector(
  build: typeof buildConnector,
  { origin, key, certificate, connectTimeout = CONNECT_MILLISECONDS }: LinkTarget,
): ReturnType<typeof buildConnector> {
  const { protocol, hostname, port } = new URL(origin);
  const place = { hostname: hostname.replace(/^\[|\]$/g, ''), port: port || (protocol === 'https:' ? '443' : '80') };
  const connect = build({
    timeout: connectTimeout,
    allowH2: false,
    ...ownCertificate(certificate),
    // A resumed session would prove the key of an earlier connection.
    ...(key === undefined ? {} : { ...PINNED_TLS, maxCachedSessions: 0 }),
  });
  return (options, callback) => {
    connect({ ...options, host: place.hostname, ...place }, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      if (key !== undefined && !provesKey(socket, key)) {
        socket.destroy();
        callback(new Error(`${origin} does not hold the key that is expected of it`), null);
        return;
      }
      callback(null, socket);
    });
  };
}

/** As `node:tls` takes it; nothing where there is none. */
export function ownCertificate(certificate: LinkCertificate | undefined): Partial<LinkCertificate> {
  return certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key };
}
