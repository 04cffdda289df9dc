// One request on a connection of its own, for parts that call others rarely. Answers as `fetch` does.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { LinkCertificate } from './certificate.ts';
import { ownCertificate, PINNED_TLS, provesKey } from './connect.ts';

const { request } = process.getBuiltinModule('node:http');

export interface LinkRequest {
  /**
   * The public key, 32 bytes, that the server must prove before anything is sent. Default: over https its certificate
   * must be valid for the name of `host`.
   */
  readonly key?: Buffer | undefined;
  /** The client certificate, sent over https if the server requests one. Default: none. */
  readonly certificate?: LinkCertificate | undefined;
  readonly method: string;
  /** Value of the Host header. Default: that of the URL. */
  readonly host?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request, and the answer's body as well. */
  readonly signal: AbortSignal;
}

/** The other side is there and holds another key. */
export class WrongKeyError extends Error {
  constructor(host: string) {
    super(`${host} does not hold the key that is expected of it`);
    this.name = 'WrongKeyError';
  }
}

/**
 * @param url `https://address:port/path`; `http://…` only without a key
 * @throws WrongKeyError when the other side does not prove its key; Error when it is not reached
 */
export async function fetchOverLink(url: string, options: LinkRequest): Promise<Response> {
  const { host, pathname, search } = new URL(url);
  options.signal.throwIfAborted();
  const socket = await open(new URL(url), options);
  try {
    const response = await send(socket, { ...options, host: options.host ?? host, path: `${pathname}${search}` });
    const status = response.statusCode ?? 0;
    const isEmpty = status === 204 || status === 304;
    if (isEmpty) socket.destroy();
    return new Response(isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>), { status });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A connection to the authenticated server. */
async function open(
  { protocol, hostname, port, host }: URL,
  { key, certificate, signal, ...options }: LinkRequest,
): Promise<Socket> {
  const place = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  if (protocol !== 'https:' && key !== undefined) throw new Error('a key can be proven over https only');
  const servername = new URL(`https://${options.host ?? host}`).hostname;
  const socket =
    protocol !== 'https:'
      ? connectPlain(place)
      : connectTls({
          ...place,
          ...ownCertificate(certificate),
          ...(key === undefined ? { servername } : PINNED_TLS),
        });
  try {
    await once(socket, protocol === 'https:' ? 'secureConnect' : 'connect', { signal });
    if (key !== undefined && !provesKey(socket, key)) throw new WrongKeyError(host);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function send(
  socket: Socket,
  options: LinkRequest & { readonly host: string; readonly path: string },
): Promise<IncomingMessage> {
  const sent = request({
    createConnection: () => socket,
    method: options.method,
    path: options.path,
    headers: { host: options.host, connection: 'close', ...options.headers },
    signal: options.signal,
  });
  sent.end(options.body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.once('close', () => socket.destroy());
  return response;
}
