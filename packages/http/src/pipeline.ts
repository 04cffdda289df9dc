// The requests under way on one connection, in order, and which of them may begin: safe ones side by side, any other alone
// (RFC 9112 section 9.3.2). Node's parser hands over all that arrive, answered or not.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Abandonable } from './hold.ts';

/** `other`: one that cannot be met. */
export type Expectation = 'none' | 'continue' | 'other';

/** A request whose response is not over yet. */
export interface Pending {
  readonly res: ServerResponse;
  readonly expectation: Expectation;
  /** No handler has it, since requests before it on the connection are not answered. */
  isWaiting: boolean;
  work: Abandonable | null | undefined;
}

/**
 * What is under way on one connection, in order. Kept per connection on purpose: one collection of all requests, ever
 * growing and shrinking, leaves old tables behind that keep dead requests alive through every young collection, which
 * cost a sixth of the throughput.
 */
export interface Connection {
  readonly pending: Pending[];
  /** The newest request, where it was answered before its body had arrived. */
  unread: IncomingMessage | null;
  /** An answer that is given or awaited ends it: nothing after its request is handled (RFC 9112 section 9.6). */
  ending: boolean;
  broken: boolean;
}

export function newConnection(): Connection {
  return { pending: [], unread: null, ending: false, broken: false };
}

/** Whether a request may begin: it is the first without an answer, or it and all before it are safe. */
export function mayBegin({ pending }: Connection, request: Pending): boolean {
  for (const one of pending) {
    if (one === request) return one === pending[0] || isSafe(one);
    if (!isSafe(one)) return false;
  }
  return false;
}

/** Begins those that waited for the one that has just ended. Where the connection ends or has ended, none ever begins. */
export function beginWaiting(connection: Connection, begin: (request: Pending) => void): void {
  for (const request of [...connection.pending]) {
    const { socket } = request.res.req;
    if (connection.ending || !socket.writable) return;
    if (!request.isWaiting) continue;
    if (!mayBegin(connection, request)) return;
    request.isWaiting = false;
    begin(request);
  }
}

/** Calls `done` once none of them is under way any more. */
export function afterAll(pending: readonly Pending[], done: () => void): void {
  let waiting = pending.length;
  if (waiting === 0) done();
  for (const { res } of pending) {
    res.once('close', () => {
      waiting -= 1;
      if (waiting === 0) done();
    });
  }
}

/** RFC 9110 section 9.2.1. */
function isSafe({ res }: Pending): boolean {
  const { method } = res.req;
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
