// Writes a refusal as the platform's problem document (RFC 9457), on a response or, where none could be made, on the
// bare connection.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { problemOf, type Refusal } from '@platform/contract';
import { endResponse } from './end-response.ts';

/** How a body that the refused request may still be sending is treated. */
export type AfterRefusal = 'keep-connection' | 'close-connection';

/** Ends `res` with the refusal and returns the request id that it carries, for the log. */
export function sendProblem(res: ServerResponse, refusal: Refusal, after: AfterRefusal = 'keep-connection'): string {
  const requestId = randomUUID();
  const problem = problemOf(refusal, requestId);
  const body = Buffer.from(JSON.stringify(problem));
  const headers = [
    ...['Content-Type', 'application/problem+json', 'Content-Length', String(body.length)],
    ...['X-Request-Id', requestId, 'Cache-Control', 'no-store', ...extraHeaders(refusal)],
  ];
  if (after === 'close-connection') headers.push('Connection', 'close');
  res.writeHead(problem.status, headers);
  endResponse(res, body);
  return requestId;
}

/** Answers on a connection whose request could not be parsed, and ends the connection. */
export function endWithProblem(socket: Duplex, refusal: Refusal): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const problem = problemOf(refusal, requestId);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ];
  // Destroyed once written: whatever the peer still sends after a broken message is not worth reading.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function extraHeaders(refusal: Refusal): string[] {
  const headers: string[] = [];
  if (refusal.retryAfter !== undefined) headers.push('Retry-After', String(refusal.retryAfter));
  if (refusal.allow !== undefined) headers.push('Allow', refusal.allow.join(', '));
  // RFC 9110 section 11.6.1 asks for a challenge with every 401.
  if (refusal.code === 'unauthenticated') headers.push('WWW-Authenticate', 'Bearer');
  return headers;
}
