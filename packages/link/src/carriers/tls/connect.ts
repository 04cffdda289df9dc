// The connecting side of direct links: TLS 1.3 to a server that is known by its key, or by a certificate for its name.
import type { LookupFunction, Socket } from 'node:net';
import { type ConnectionOptions, TLSSocket } from 'node:tls';
import type { buildConnector } from 'undici';
import { WrongKeyError } from '../../errors.ts';
import { rawPublicKey } from '../../key.ts';
import type { LinkCertificate } from './certificate.ts';

export interface TlsTarget {
  /** `http://address:port` or `https://address:port`. */
  readonly origin: string;
  /** The key that the other side must prove, 32 bytes. Without it an https certificate must be valid for the name. */
  readonly key?: Buffer | undefined;
  /** The client certificate, sent over https if the server requests one. Default: none. */
  readonly certificate?: LinkCertificate | undefined;
  /** Finds the addresses of a name. Default: the system's resolver, whatever it finds. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * No authority vouches for a self-signed certificate: who opens such a socket asks {@link provesKey} before all else.
 */
const PINNED_TLS = { rejectUnauthorized: false, minVersion: 'TLSv1.3' } as const satisfies ConnectionOptions;

/** The key of the other side's certificate, with which TLS 1.3 has verified a signature; `null` for none of Ed25519. */
export function publicKeyShown(socket: TLSSocket): Buffer | null {
  const shown = socket.getPeerX509Certificate();
  return shown === undefined ? null : rawPublicKey(shown.publicKey);
}

function provesKey(socket: Socket, key: Buffer): boolean {
  return socket instanceof TLSSocket && publicKeyShown(socket)?.equals(key) === true;
}

/** What makes the connections of an undici pool. */
export function tlsConnector(
  build: typeof buildConnector,
  { origin, key, certificate, lookup, connectTimeout }: TlsTarget & { readonly connectTimeout: number },
): ReturnType<typeof buildConnector> {
  const place = placeOf(new URL(origin));
  const connect = build({
    timeout: connectTimeout,
    allowH2: false,
    ...(lookup === undefined ? {} : { lookup }),
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
        callback(new WrongKeyError(origin), null);
        return;
      }
      callback(null, socket);
    });
  };
}

/** Where `node:net` connects to. */
export function placeOf({ protocol, hostname, port }: URL): { readonly hostname: string; readonly port: string } {
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: port || (protocol === 'https:' ? '443' : '80') };
}

/** As `node:tls` takes it; nothing where there is none. */
function ownCertificate(certificate: LinkCertificate | undefined): Partial<LinkCertificate> {
  return certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key };
}
