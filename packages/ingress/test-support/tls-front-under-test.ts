// A TLS front on loopback with certificates of a test's authority, and clients of both versions of HTTP that trust it.
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { TestContext } from 'node:test';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { IncomingRequest, StrictServerOptions } from '@platform/http';
import { openTlsFront, type TlsFront, type TlsFrontOptions } from '../src/tls/front.ts';
import { newAuthority, type TestAuthority } from './certificates.ts';
import { type MemoryCertificates, memoryCertificates } from './memory-certificates.ts';

export const HOST = 'a.example.org';
/** MiB: a client that has more waiting to be sent reads no answer. */
export const CLIENT_MEMORY = 100;
const authority = newAuthority();

export interface FrontUnderTest {
  readonly front: TlsFront;
  readonly authority: TestAuthority;
  readonly certificates: MemoryCertificates;
  /** Errors of handlers. */
  readonly faults: unknown[];
  /** Opens a connection; it is not checked until its handshake is over. */
  tls(options?: ConnectionOptions): TLSSocket;
  http2(servername?: string): Promise<ClientHttp2Session>;
}

export interface FrontUnderTestOptions {
  readonly onRequest?: (incoming: IncomingRequest) => ReturnType<StrictServerOptions['onRequest']>;
  readonly server?: Partial<StrictServerOptions>;
  readonly limits?: TlsFrontOptions['limits'];
}

/** Serves `*.example.org` and `elsewhere.test`, each with a certificate of its own. */
export async function openFrontUnderTest(t: TestContext, options: FrontUnderTestOptions = {}): Promise<FrontUnderTest> {
  const made = await authority;
  const certificates = memoryCertificates();
  certificates.set('*.example.org', await made.issue(['*.example.org']));
  certificates.set('elsewhere.test', await made.issue(['elsewhere.test']));
  const faults: unknown[] = [];
  const answer: StrictServerOptions['onRequest'] = ({ res }) => {
    res.end('good');
    return null;
  };
  const front = await openTlsFront({
    host: '127.0.0.1',
    port: 0,
    certificates,
    server: {
      isOwnHost: () => true,
      onRequest: options.onRequest ?? answer,
      onFault: (error) => void faults.push(error),
      ...options.server,
    },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const sessions: ClientHttp2Session[] = [];
  t.after(() => {
    for (const session of sessions) session.destroy();
    void front.drain();
    front.end();
  });
  const target = { host: '127.0.0.1', port: front.port, ca: made.ca };
  return {
    front,
    authority: made,
    certificates,
    faults,
    tls: (own) => connectTls({ ...target, servername: HOST, ...own }),
    async http2(servername = HOST) {
      const session = connect(`https://${servername}:${front.port}`, {
        createConnection: () => connectTls({ ...target, servername, ALPNProtocols: ['h2'] }),
        maxSessionMemory: CLIENT_MEMORY,
      });
      sessions.push(session);
      session.on('error', () => undefined);
      await once(session, 'connect');
      return session;
    },
  };
}

export interface Http2Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
  /** The stream ended as broken, with this code of HTTP/2; 0 for a whole answer. */
  readonly reset: number;
}

export function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  return new Promise((resolve) => {
    let status = 0;
    let headers: Http2Answer['headers'] = {};
    let body = '';
    stream.on('response', (fields) => {
      status = fields[':status'] ?? 0;
      headers = fields;
    });
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      body += text;
    });
    stream.on('error', () => undefined);
    stream.on('close', () => resolve({ status, headers, body, reset: stream.rstCode }));
  });
}

/** Sends a request, with its body at once. */
export function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body: string | null = null,
): Promise<Http2Answer> {
  const stream = session.request({ ':authority': HOST, ...headers }, { endStream: body === null });
  const answer = answerOf(stream);
  if (body !== null) stream.end(body);
  return answer;
}
