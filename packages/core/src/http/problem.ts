// Writes problem documents (RFC 9457), from fastify handlers and from raw sockets alike.
import type { ServerResponse } from 'node:http';
import { errors, problemOf, type Refusal } from '@platform/contract';

export function problemHeaders(refusal: Refusal): Record<string, string> {
  return {
    'content-type': 'application/problem+json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(refusal.retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(refusal.retryAfter))) }),
    ...(refusal.allow === undefined ? {} : { allow: refusal.allow.join(', ') }),
  };
}

/** For answers outside fastify: host dispatch, malformed requests, static files. */
export function writeProblem(response: ServerResponse, refusal: Refusal, requestId: string): void {
  const body = JSON.stringify(problemOf(refusal, requestId));
  response.writeHead(errors[refusal.code].status, {
    ...problemHeaders(refusal),
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
  });
  response.end(body);
}
