// The plain HTTP beside TLS, usually on port 80: it answers the challenges of a certificate authority and leads everything
// else to https. No request passes it to a node.
import { randomUUID } from 'node:crypto';
import { endResponse, type IncomingRequest, type StrictServerOptions, sendProblem } from '@platform/http';
import { type Listener, listenPlain } from '../listener.ts';

export interface PlainListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The port of https as clients reach it. */
  readonly tlsPort: number;
  /** The front of https: its limits apply here, and its hosts are known here. */
  readonly server: StrictServerOptions;
  /** What the authority wants to find (RFC 8555 section 8.3); `null` for nothing. */
  findChallenge(host: string, token: string): string | null;
}

const CHALLENGE = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,200})$/;
const HTTPS_PORT = 443;
const KEEP_ALIVE_MILLISECONDS = 5_000;

/** @throws Error when the address cannot be bound */
export function listenPlainBesideTls(options: PlainListenerOptions): Promise<Listener> {
  const { server, host, port } = options;
  const { onUpgrade: _, strictTransport: __, ...front } = server;
  const onRequest: StrictServerOptions['onRequest'] = (incoming) => {
    answer(incoming, options);
    return null;
  };
  const limits = { ...front.limits, keepAliveMilliseconds: KEEP_ALIVE_MILLISECONDS };
  return listenPlain({ ...front, onRequest, limits }, { host, port });
}

function answer({ head, path, query, req, res }: IncomingRequest, options: PlainListenerOptions): void {
  res.setHeader('x-request-id', randomUUID());
  const host = head.host.replace(/:\d+$/, '').toLowerCase();
  const token = CHALLENGE.exec(path)?.[1];
  if (token !== undefined) {
    const value = req.method === 'GET' ? options.findChallenge(host, token) : null;
    if (value === null) sendProblem(res, { code: 'not_found' });
    else {
      res.writeHead(200, { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' });
      endResponse(res, Buffer.from(value));
    }
    return;
  }
  // Every path alike, so that it says nothing of routes. The method stays (RFC 9110 section 15.4.9).
  const port = options.tlsPort === HTTPS_PORT ? '' : `:${options.tlsPort}`;
  res.writeHead(308, { location: `https://${host}${port}${path}${query}`, 'content-length': 0 });
  endResponse(res, null);
}
