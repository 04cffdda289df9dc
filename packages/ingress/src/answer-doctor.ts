// What an Ingress answers `platform doctor`, so that it finds the hop on the way from the internet that spoils requests:
// whom the Ingress takes for the client, an answer in two pieces, and a WebSocket.
import { createHash } from 'node:crypto';
import {
  type Abandonable,
  endWithProblem,
  type IncomingRequest,
  type IncomingUpgrade,
  sendProblem,
} from '@platform/http';
import * as z from 'zod';
import type { Client, ReadClient } from './client-address.ts';

/** `GET /facts` */
export const doctorFacts = z.strictObject({
  /** `Host` as it arrived. */
  host: z.string(),
  /** The other end of the connection: the last proxy, or the client. */
  peer: z.string(),
  /** `X-Forwarded-For` as it arrived, `null` without any. */
  forwardedFor: z.string().nullable(),
  /** Whom the node is given as the client. */
  client: z.strictObject({ address: z.string(), protocol: z.enum(['http', 'https']) }),
});
export type DoctorFacts = z.infer<typeof doctorFacts>;

/** `GET /pieces` sends the second so long after the first. */
export const PIECE_MILLISECONDS = 1_000;
export const PIECES = ['first piece\n', 'second piece\n'] as const;
/** What the WebSocket at `/socket` sends before it closes. */
export const SOCKET_TEXT = 'from the Ingress';

export function answerDoctor(
  { req, res, head, path }: IncomingRequest,
  connection: Client,
  readClient: ReadClient,
): Abandonable | null {
  res.on('error', () => res.destroy());
  if (req.method !== 'GET' || (path !== '/facts' && path !== '/pieces')) {
    sendProblem(res, { code: 'not_found' });
    return null;
  }
  res.setHeader('cache-control', 'no-store');
  if (path === '/facts') {
    const facts: DoctorFacts = {
      host: head.host,
      peer: readClient({ ...connection }, {}).address,
      forwardedFor: [req.headers['x-forwarded-for'] ?? []].flat().join(', ') || null,
      client: readClient(connection, req.headers),
    };
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(facts));
    return null;
  }
  const [first, second] = PIECES;
  res.setHeader('content-type', 'text/plain');
  res.write(first);
  const later = setTimeout(() => res.end(second), PIECE_MILLISECONDS);
  return { abandon: () => clearTimeout(later) };
}

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
