// Writes a refusal as a problem document (RFC 9457), on a response or, where there is none, on the raw connection.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Problem, problemOf, type Refusal } from '@platform/contract';
import { endResponse } from './end-response.ts';
import { transportFields } from './transport-security.ts';

export interface ProblemOptions {
  /** Default: the `X-Request-Id` set on the response before, else a new UUID. */
  readonly requestId?: string | undefined;
  /**
   * Ends the connection with the answer: for a message that may be an attempt at request smuggling. Default: only where
   * more is left of the request's body than is worth reading.
   */
  readonly close?: boolean;
  /** Fields of the answer beside or in place of its own. Default: none. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Adds what clients of one service understand. Default: the document as it is. */
  readonly extend?: (problem: Problem) => object;
}

/** Bodies of refused requests up to this size are read and discarded, so that the connection can be reused. */
const DISCARDED_BODY = 64 * 1024;

/**
 * Ends `res` with the refusal, unless it was already answered, as after a malformed body. Keeps headers that were set
 * on it, such as CORS.
 *
 * @returns the request id that the answer carries, for the log
 */
export function sendProblem(res: ServerResponse, refusal: Refusal, options: ProblemOptions = {}): string {
  const requestId = options.requestId ?? requestIdOf(res);
  if (res.headersSent) return requestId;
  const problem = problemOf(refusal, requestId);
  const body = Buffer.from(JSON.stringify(options.extend?.(problem) ?? problem));
  const close = options.close ?? !canDiscardBody(res.req);
  // Left by a head that Node did not take: the phrase of its status.
  res.statusMessage = '';
  res.writeHead(problem.status, {
    ...problemHeaders(refusal, requestId),
    ...options.fields,
    'content-length': body.length,
    ...(close ? { connection: 'close' } : {}),
  });
  endResponse(res, body);
  return requestId;
}

/** Writes the refusal on a connection without a response object, such as an upgrade's, and closes it. */
export function endWithProblem(socket: Duplex, refusal: Refusal, requestId: string = randomUUID()): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOf(refusal, requestId);
  const body = JSON.stringify(problem);
  const headers = {
    ...problemHeaders(refusal, requestId),
    ...transportFields(socket),
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  let head = `HTTP/1.1 ${problem.status} Refused\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  // Destroyed once written: whatever the peer still sends after a broken message is not worth reading.
  socket.end(`${head}\r\n${body}`, () => socket.destroy());
}

function requestIdOf(res: ServerResponse): string {
  const set = res.getHeader('x-request-id');
  return typeof set === 'string' ? set : randomUUID();
}

/** A problem document's own fields, without its length. */
function problemHeaders({ retryAfter, allow, code }: Refusal, requestId: string): Record<string, string> {
  return {
    'content-type': 'application/problem+json',
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    ...(allow === undefined ? {} : { allow: allow.join(', ') }),
    // RFC 9110 section 11.6.1 requires a challenge with every 401.
    ...(code === 'unauthenticated' ? { 'www-authenticate': 'Bearer' } : {}),
  };
}

/** Whether the rest of a refused request's body is small enough to be read and thrown away. */
function canDiscardBody(req: IncomingMessage): boolean {
  if (req.complete) return true;
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers;
  return coding === undefined && Number(length ?? 0) <= DISCARDED_BODY;
}
