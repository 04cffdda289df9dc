// The front of an Ingress that ends TLS itself: one port, HTTP/2 and HTTP/1.1, the same handler behind both.
import { createStrictServer, handOver, type StrictServerOptions } from '@platform/http';
import { type Http2Limits, serveHttp2 } from '../http2/sessions.ts';
import { IDLE_LOOK_MILLISECONDS } from '../listener.ts';
import type { CertificateSource } from './certificate-source.ts';
import { certificateCovers, listenTls, type TlsLimits } from './listener.ts';

export interface TlsFrontOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly certificates: Pick<CertificateSource, 'current' | 'obtain'>;
  /** The front as it would be over plain HTTP. Of its limits those of connections are `limits.tls` here. */
  readonly server: StrictServerOptions;
  readonly limits?: { readonly tls?: Partial<TlsLimits>; readonly http2?: Partial<Http2Limits> };
}

export interface TlsFront {
  readonly port: number;
  readonly connections: number;
  readonly failedHandshakes: number;
  /** Takes no new connections, and ends those that are open once their requests are answered; resolves after the last. */
  drain(): Promise<void>;
  /** Breaks off what is still open. */
  end(): void;
}

/** @throws Error when the address cannot be bound */
export async function openTlsFront({ server, limits, ...place }: TlsFrontOptions): Promise<TlsFront> {
  const options: StrictServerOptions = {
    ...server,
    strictTransport: true,
    // A host of another certificate is one that the client has no proof of.
    isOwnHost: (host, connection) => certificateCovers(connection, host) && server.isOwnHost(host, connection),
  };
  const http1 = createStrictServer(options);
  const http2 = serveHttp2(options, { ...server.limits, ...limits?.http2 });
  const listener = await listenTls({
    ...place,
    onFault: (error) => server.onFault(error),
    ...(limits?.tls === undefined ? {} : { limits: limits.tls }),
    serve(socket, protocol) {
      if (protocol === 'h2') http2.accept(socket);
      else handOver(http1, socket);
    },
  });
  return {
    port: listener.port,
    get connections() {
      return listener.connections;
    },
    get failedHandshakes() {
      return listener.failedHandshakes;
    },
    async drain() {
      const drained = listener.drain();
      http2.drain();
      http1.close();
      // Those that become idle, which Node would keep for their next request.
      const idle = setInterval(() => http1.closeIdleConnections(), IDLE_LOOK_MILLISECONDS);
      http1.closeIdleConnections();
      await drained;
      clearInterval(idle);
    },
    end() {
      http2.end();
      listener.end();
    },
  };
}
