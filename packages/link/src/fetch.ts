// One request on a connection of its own, for parts that call others rarely. Answers as `fetch` does.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { isIrohAddress } from './carriers/iroh/address.ts';
import { httpOrigin, type LinkTarget, openLink } from './connect.ts';

const { request } = process.getBuiltinModule('node:http');

/** `key`: that of the server, which must prove it before anything is sent. */
export interface LinkRequest extends Pick<LinkTarget, 'key' | 'certificate' | 'iroh'> {
  readonly method: string;
  /** Value of the Host header. Default: that of the URL. */
  readonly host?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the request, and the answer's body as well. */
  readonly signal: AbortSignal;
}

/**
 * @param at `https://address:port/path`; `http://…` only without a key; or an iroh address and the path
 * @throws WrongKeyError when the other side does not prove its key; Error when it is not reached
 */
export async function fetchOverLink(
  at: string | { readonly address: string; readonly path: string },
  options: LinkRequest,
): Promise<Response> {
  const { origin, path } = whereOf(at);
  const { host } = new URL(httpOrigin(origin));
  options.signal.throwIfAborted();
  const socket = await openLink({ ...options, origin }, { host: options.host ?? host, signal: options.signal });
  try {
    const response = await send(socket, { ...options, host: options.host ?? host, path });
    const status = response.statusCode ?? 0;
    const isEmpty = status === 204 || status === 304;
    if (isEmpty) socket.destroy();
    return new Response(isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>), { status });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function whereOf(at: Parameters<typeof fetchOverLink>[0]): { readonly origin: string; readonly path: string } {
  if (typeof at !== 'string') return { origin: at.address, path: at.path };
  if (isIrohAddress(at)) return { origin: at, path: '/' };
  const { origin, pathname, search } = new URL(at);
  return { origin, path: `${pathname}${search}` };
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
