// Whether anybody still waits for an answer, for work that is worth nothing without.
import type { ServerResponse } from 'node:http';
import { refuse } from '@platform/contract';

/** Fires when the caller left before it was answered; has fired where it left before. */
export function whenCallerLeaves(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = (): void => left.abort(refuse('concurrency_limited', 'The client left.'));
  if (response.closed || response.req.socket.destroyed) leave();
  else response.once('close', leave);
  return left.signal;
}
