// Answers of the node listener: refusals as problem documents (RFC 9457), and plain JSON for core.
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { problemOf, type Refusal } from '@platform/contract';

/** Headers set on the response before, such as CORS, are kept. The connection ends when a body may be unread. */
export function sendProblem(res: ServerResponse, refusal: Refusal): void {
  const requestId = String(res.getHeader('x-request-id') ?? randomUUID());
  const problem = problemOf(refusal, requestId);
  res.setHeader('Content-Type', 'application/problem+json');
  res.setHeader('X-Request-Id', requestId);
  res.setHeader('Cache-Control', 'no-store');
  if (refusal.retryAfter !== undefined) res.setHeader('Retry-After', refusal.retryAfter);
  if (refusal.allow !== undefined) res.setHeader('Allow', refusal.allow.join(', '));
  if (refusal.code === 'unauthenticated') res.setHeader('WWW-Authenticate', 'Bearer');
  if (!res.req.complete) res.setHeader('Connection', 'close');
  end(res, problem.status, JSON.stringify(problem));
}

export function sendJson(res: ServerResponse, value: unknown): void {
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Cache-Control', 'no-store');
  end(res, 200, JSON.stringify(value));
}

function end(res: ServerResponse, status: number, body: string): void {
  res.statusCode = status;
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(res.req.method === 'HEAD' ? undefined : body);
}
