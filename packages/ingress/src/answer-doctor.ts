// What an Ingress answers `platform doctor`, so that it finds the hop on the way from the internet that spoils requests:
// whom the Ingress takes for the client, an answer in two pieces, and a WebSocket.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import {
  type Abandonable,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  sendProblem,
} from '@platform/http';
import * as z from 'zod';
import type { Client, ReadClient } from './client-address.ts';

/** Printed on a terminal: whoever stands between could say anything. */
const address = z.string().regex(/^[0-9a-f.:%a-z-]{0,64}$/i);

/** `GET /facts` */
export const doctorFacts = z.strictObject({
  /** `Host` as it arrived. */
  host: z.string().regex(/^[\w.:[\]-]{1,300}$/),
  /** The other end of the connection: the last proxy, or the client. */
  peer: address,
  /** Whether the peer is one of PLATFORM_TRUSTED_PROXIES. */
  isTrusted: z.boolean(),
  /** `X-Forwarded-For` as it arrived, `null` without any. */
  forwardedFor: z.string().nullable(),
  /** Whom the node is given as the client. */
  client: z.strictObject({ address, protocol: z.enum(['http', 'https']) }),
});
export type DoctorFacts = z.infer<typeof doctorFacts>;

/**
 * `GET /pieces/<id>` sends the first at once, and the last once `GET /release/<id>` came: who holds the answer back until it is
 * complete never sees the first, and so never releases the last. Without that it ends after a while with another one.
 */
export const PIECES = { first: 'first\n', released: 'released\n', held: 'held back\n' } as const;
const HELD_MILLISECONDS = 5_000;
/** Answers that may wait to be released at a time. */
const MOST_WAITING = 8;
/** What the WebSocket at `/socket` sends before it closes. */
export const SOCKET_TEXT = 'from the Ingress';

export class DoctorAnswers {
  readonly #readClient: ReadClient;
  /** What releases an answer, by its id. */
  readonly #waiting = new Map<string, () => void>();

  constructor(readClient: ReadClient) {
    this.#readClient = readClient;
  }

  answer({ req, res, head, path }: IncomingRequest, connection: Client): Abandonable | null {
    res.on('error', () => res.destroy());
    const [, what = '', id = ''] =
      (req.method === 'GET' && /^\/(facts|(?:pieces|release)(?=\/))(?:\/([0-9a-f]{1,32}))?$/.exec(path)) || [];
    res.setHeader('cache-control', 'no-store');
    if (what === 'facts' && id === '') {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(this.#facts(head.host, connection, req.headers)));
      return null;
    }
    if (what === 'pieces' && !this.#waiting.has(id) && this.#waiting.size < MOST_WAITING)
      return this.#sendPieces(id, res);
    const release = what === 'release' ? this.#waiting.get(id) : undefined;
    if (release === undefined) {
      sendProblem(res, { code: 'not_found' });
      return null;
    }
    release();
    res.writeHead(204).end();
    return null;
  }

  #facts(host: string, connection: Client, headers: IncomingHttpHeaders): DoctorFacts {
    return {
      host,
      peer: this.#readClient(connection, {}).address,
      isTrusted: this.#readClient(connection, { 'x-forwarded-for': ANYBODY }).address === ANYBODY,
      forwardedFor: [headers['x-forwarded-for'] ?? []].flat().join(', ') || null,
      client: this.#readClient(connection, headers),
    };
  }

  #sendPieces(id: string, res: ServerResponse): Abandonable {
    const end = (last: string) => {
      clearTimeout(timer);
      this.#waiting.delete(id);
      res.end(last);
    };
    const timer = setTimeout(() => end(PIECES.held), HELD_MILLISECONDS);
    this.#waiting.set(id, () => end(PIECES.released));
    res.setHeader('content-type', 'text/plain');
    res.write(PIECES.first);
    return { abandon: () => end('') };
  }
}

/** An address that no client has (RFC 5737). */
const ANYBODY = '198.51.100.1';

const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT_FRAME = 0x81;
const CLOSE_FRAME = Buffer.from([0x88, 0]);

/** Completes the handshake (RFC 6455 section 4.2.2), sends one text, and closes. */
export function answerDoctorUpgrade({ req, socket, path }: IncomingUpgrade): void {
  socket.on('error', () => socket.destroy());
  if (path !== '/socket') {
    endWithProblem(socket, { code: 'not_found' });
    return;
  }
  const accept = createHash('sha1')
    .update(`${req.headers['sec-websocket-key'] ?? ''}${ACCEPT_GUID}`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const text = Buffer.from(SOCKET_TEXT);
  socket.end(Buffer.concat([Buffer.from([TEXT_FRAME, text.length]), text, CLOSE_FRAME]));
}
