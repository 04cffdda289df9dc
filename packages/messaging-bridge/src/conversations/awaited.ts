// What an account waits for that the homeserver does not ring for.
import type { Account } from '../accounts/account.ts';
import { hasUnshown } from './take-events.ts';
import { NOBODY } from './take-rooms.ts';

/**
 * `keys`: a message is kept back that is shown once its key comes. `rooms`: one is to be joined that could not be yet, or was
 * joined and is not shown: the homeserver shows one of another server only once it has learnt everything of it.
 */
export type Awaited = 'keys' | 'rooms';

export function awaitedBy({ book }: Account): Awaited | null {
  if (hasUnshown(book)) return 'keys';
  for (const { conversation, mine, filled, dead } of book.rooms.values()) {
    if (dead || filled || mine === 'leave' || conversation === NOBODY) continue;
    const { state } = book.conversations.get(conversation) ?? {};
    if (mine === 'join' || state === 'open' || state === 'requested') return 'rooms';
  }
  return null;
}
