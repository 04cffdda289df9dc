// One answer with messages at a time for an account, whichever of its apps asks: bodies are read, opened and written by the thread
// that answers everybody, so an account that asks much waits for itself.
import { limits } from '@platform/contract';
import { Turns } from '../background/turns.ts';

/**
 * Reads in the turn of the account.
 *
 * @param call.left gives it up once the caller has left; without one it is read at once
 */
export type ReadInTurn = <Result>(
  call: { readonly accountKey: string; readonly left: AbortSignal | undefined },
  read: () => Promise<Result>,
) => Promise<Result>;

export function readingInTurn(): ReadInTurn {
  const turns = new Turns({
    ofKey: 1,
    inAll: 4,
    waiting: 2 * limits.messagingSyncs.value,
    milliseconds: 20_000,
    detail: 'Too many calls for messages of this account wait. Ask for fewer at a time.',
  });
  return ({ accountKey, left }, read) => (left === undefined ? read() : turns.run(accountKey, read, left));
}
