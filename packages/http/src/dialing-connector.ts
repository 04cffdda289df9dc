// A Dialer as the `connect` of an undici client: TLS by name over the connection that the Dialer made.
import { createSecureContext, getCACertificates } from 'node:tls';
import { buildConnector } from 'undici';
import type { Dialer, DialTarget } from './dialer.ts';

export interface DialingConnectorOptions extends Pick<DialTarget, 'allow'> {
  readonly dialer: Dialer;
  /** Certificate authorities, PEM, in addition to those of this process. Default: none. */
  readonly ca?: string | undefined;
  /** Milliseconds for the TLS handshake, after the Dialer's own limit for the connection. Default 10,000. */
  readonly handshakeTimeout?: number;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** The `connect` option of an undici `Agent` or `Pool`: dials, then verifies TLS by name. Negotiates HTTP/1.1 only. */
export function dialingConnector(options: DialingConnectorOptions): buildConnector.connector {
  const { dialer, allow, ca, handshakeTimeout = HANDSHAKE_TIMEOUT_MS } = options;
  const secure = buildConnector({
    timeout: handshakeTimeout,
    allowH2: false,
    ...(ca === undefined ? {} : { secureContext: createSecureContext({ ca: [...getCACertificates('default'), ca] }) }),
  });
  return (target, callback) => {
    const { protocol, hostname } = target;
    const port = Number(target.port || (protocol === 'https:' ? 443 : 80));
    dialer.connect({ host: hostname, port, allow }).then(
      (socket) => {
        if (protocol === 'https:') secure({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}
