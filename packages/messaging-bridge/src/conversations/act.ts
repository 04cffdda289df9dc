// Opening a conversation, and what a person decides about one.
import type { Account } from '../accounts/account.ts';
import { OperationError } from '../failure.ts';
import { type Conversation, conversationIdOf } from './book.ts';
import { isHeard } from './gaps.ts';
import { currentRoom, makeRoom, untilEncrypted } from './open-room.ts';
import { HEARD_BEFORE_OPEN_MS } from './rules.ts';
import { readUpTo } from './take-receipts.ts';
import { join, leaveRoom, takeSync } from './take-sync.ts';

type Clock = () => number;

/** Within the turns of the account and of the conversation. @throws OperationError */
export async function openDirect(
  account: Account,
  to: string,
  clock: Clock,
): Promise<{ readonly conversation: Conversation; readonly created: boolean }> {
  const { book, store, userId } = account;
  if (to === userId) throw new OperationError('conflict', 'This is the address of the account itself.');
  // It may have been opened by the other side, or by a call whose answer was lost.
  await takeSync(account, clock);
  const known = book.conversations.get(conversationIdOf(to));
  if (known?.state === 'request') return { conversation: await accept(account, known.id, clock), created: false };
  if (known !== undefined && known.state !== 'left') {
    if (currentRoom(account, known) === undefined) await makeRoom(account, to, clock);
    return { conversation: current(account, known.id), created: false };
  }
  if (known === undefined) {
    await makeRoom(account, to, clock);
    await store.commit();
    return { conversation: current(account, conversationIdOf(to)), created: true };
  }
  return { conversation: await reopen(account, known, clock), created: false };
}

/** By the one who left, declined or blocked. */
async function reopen(account: Account, left: Conversation, clock: Clock): Promise<Conversation> {
  const { book, store } = account;
  const invitation = book.roomsOf(left.id).find(({ mine, dead }) => mine === 'invite' && !dead);
  const state = left.answered ? ('open' as const) : ('requested' as const);
  const reopened = book.put({ ...left, state, closed: null, asked: 0 });
  await store.commit();
  if (invitation !== undefined && (await join(account, invitation)))
    await untilEncrypted(account, invitation.id, clock);
  if (currentRoom(account, reopened) === undefined) await makeRoom(account, left.other, clock);
  await store.commit();
  return current(account, left.id);
}

/** Within the turns of the account and of the conversation. @throws OperationError */
export async function accept(account: Account, id: string, clock: Clock): Promise<Conversation> {
  const { book, store } = account;
  const conversation = current(account, id);
  if (conversation.state === 'open') return conversation;
  if (conversation.state !== 'request') throw new OperationError('conflict', 'There is no request to accept.');
  // Also one that was joined by a call which did not see the end of it.
  const rooms = book.roomsOf(id).filter(({ mine, dead }) => mine !== 'leave' && !dead);
  for (const room of rooms) {
    if (room.mine === 'invite' && !(await join(account, room))) continue;
    await requireStillAsked(account, id, room.id);
    book.put({ ...current(account, id), state: 'open', answered: true });
    try {
      await untilEncrypted(account, room.id, clock);
    } catch (error) {
      if (error instanceof OperationError && error.code === 'no_encryption')
        await refuseUnencrypted(account, id, room.id);
      throw error;
    }
    await store.commit();
    await isHeard(account, id, HEARD_BEFORE_OPEN_MS);
    return current(account, id);
  }
  throw new OperationError('unreachable', 'The room of the request could not be joined. Try again later.');
}

/** Who declined or blocked somebody while their server let the account wait has the last word. */
async function requireStillAsked(account: Account, id: string, roomId: string): Promise<void> {
  if (current(account, id).state !== 'left') return;
  await leaveRoom(account, roomId);
  await account.store.commit();
  throw new OperationError('conflict', 'The request was declined meanwhile.');
}

async function refuseUnencrypted(account: Account, id: string, roomId: string): Promise<void> {
  const { book, store } = account;
  await leaveRoom(account, roomId);
  const conversation = current(account, id);
  if (conversation.state === 'open') book.put({ ...conversation, state: 'request' });
  await store.commit();
}

/**
 * Within the account's turn, and not after what waits for the other side's server. A room is left only where the account wants that: to the other side a request that was declined
 * looks as one that was not answered, and one who was blocked sees nothing.
 *
 * @throws OperationError
 */
export async function close(
  account: Account,
  id: string,
  by: 'declined' | 'left' | 'blocked',
  clock: Clock,
): Promise<Conversation> {
  const { book, store } = account;
  const conversation = current(account, id);
  if (by === 'declined' && conversation.state === 'left') return conversation;
  if (by === 'declined' && conversation.state !== 'request')
    throw new OperationError('conflict', 'There is no request to decline.');
  const isRequest = conversation.state === 'request';
  // Leaving a request counts as declining it.
  const closed = { by: by === 'left' && isRequest ? ('declined' as const) : by, at: clock() };
  if (conversation.state !== 'left' || by === 'blocked') book.put({ ...conversation, state: 'left', closed });
  await store.commit();
  if (closed.by !== 'left') return current(account, id);
  for (const room of book.roomsOf(id)) {
    if (room.mine === 'join') await leaveRoom(account, room.id);
  }
  await store.commit();
  return current(account, id);
}

/** @throws OperationError */
export async function markRead(account: Account, id: string, messageId: string): Promise<Conversation> {
  const { book, store } = account;
  const conversation = current(account, id);
  const message = book.messages.get(messageId);
  if (message === undefined || message.conversation !== id)
    throw new OperationError('not_found', 'There is no such message in this conversation.');
  if (message.place <= conversation.readTo) return conversation;
  const read = readUpTo(account, conversation, message.place);
  await store.commit();
  return read;
}

function current({ book }: Account, id: string): Conversation {
  const conversation = book.conversations.get(id);
  if (conversation === undefined) throw new OperationError('not_found', 'There is no such conversation.');
  return conversation;
}
