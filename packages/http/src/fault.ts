// An internal error while handling a request ends that request only: a process serves many callers, and none may end
// the requests of others.
import type { ServerResponse } from 'node:http';
import { sendProblem } from './problem.ts';

/** For the log. No message: it may quote what was handled. */
export interface Fault {
  /** A code of Node, else the name of the error. */
  readonly reason: string;
  /** Where it was thrown: the first line of its stack. */
  readonly at: string;
}

/** Describes a thrown value for the log, without its message; `at` is empty if it has no stack. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return { reason: typeof error, at: '' };
  const at = /^ {4}at (.*)$/m.exec(error.stack ?? '')?.[1] ?? '';
  return { reason: 'code' in error && typeof error.code === 'string' ? error.code : error.name, at };
}

/** Ends the response of a request that could not be handled: with 500, or aborted where it had begun. */
export function endFaulty(res: ServerResponse): void {
  if (res.writableEnded) return;
  if (res.headersSent || res.destroyed) res.destroy();
  else sendProblem(res, { code: 'internal_error' }, { close: true });
}
