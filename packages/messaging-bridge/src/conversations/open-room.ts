// The room in which a conversation goes on, and the making of one: encrypted from its first state, and used only once a
// sync has shown that it is.
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../accounts/account.ts';
import { OperationError } from '../failure.ts';
import { MatrixError } from '../matrix/homeserver.ts';
import { createdRoomAnswer } from '../matrix/shapes.ts';
import type { Conversation, Room } from './book.ts';
import { conversationWith, newRoom, presentIn } from './take-rooms.ts';
import { leaveRoom, takeSync } from './take-sync.ts';

/** Milliseconds for a room to appear in a sync: the homeserver's own work, or a join through another one. */
const APPEARS_MS = 20_000;
const PAUSE_MS = 50;

/** The room in which to write: of several the one in which the other side is, and the latest of those. */
export function currentRoom({ book }: Account, { id, other }: Conversation): Room | undefined {
  const usable = book
    .roomsOf(id)
    .filter(
      (room) =>
        room.mine === 'join' && room.encrypted && !room.dead && presentIn(room).every((userId) => userId === other),
    );
  const rank = ({ others, replacement }: Room) =>
    (replacement === null ? 4 : 0) + (others[other] === 'join' ? 2 : others[other] === 'invite' ? 1 : 0);
  return usable.toSorted((a, b) => rank(b) - rank(a) || b.since - a.since)[0];
}

/**
 * Makes a room for the conversation with somebody, which begins with it where there is none: nobody is shown a conversation with
 * nobody. Other work of the account goes on while the other side's server is asked.
 *
 * @throws OperationError `unreachable`, `not_found`; `conflict` where the conversation was left meanwhile
 */
export async function makeRoom(account: Account, other: string, clock: () => number): Promise<Room> {
  const { book, homeserver, as } = account;
  const { room_id: roomId } = await account.apart(() =>
    homeserver
      .request(as, {
        method: 'POST',
        path: ['_matrix', 'client', 'v3', 'createRoom'],
        body: {
          preset: 'trusted_private_chat',
          visibility: 'private',
          is_direct: true,
          invite: [other],
          initial_state: [
            { type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } },
            { type: 'm.room.history_visibility', state_key: '', content: { history_visibility: 'invited' } },
          ],
        },
        answer: createdRoomAnswer,
        patience: 60_000,
        asksOthers: true,
      })
      .catch((error: unknown) => {
        throw invitationFailure(error);
      }),
  );
  const conversation = conversationWith(book, other, { state: 'requested', answered: false }, clock());
  // A sync may have shown it by now, or a part of it.
  const shown = book.rooms.get(roomId) ?? newRoom(book, roomId, conversation.id, 'join');
  book.rooms.set(roomId, { ...shown, conversation: conversation.id });
  if (conversation.state === 'left') {
    await leaveRoom(account, roomId);
    throw new OperationError('conflict', 'You left this conversation.');
  }
  // They asked in the same moment.
  if (conversation.state === 'request') book.put({ ...conversation, state: 'open', answered: true });
  return untilEncrypted(account, roomId, clock);
}

function invitationFailure(error: unknown): unknown {
  if (!(error instanceof MatrixError) || error.status === 429) return error;
  if (error.code === 'M_NOT_FOUND') return new OperationError('not_found', 'Nobody has this address.');
  const words = 'The other side could not be invited: its server does not answer or refuses.';
  return new OperationError('unreachable', words, { cause: error });
}

/**
 * Waits until a sync shows a room as encrypted and this account in it.
 *
 * @throws OperationError `no_encryption` for one that is not
 */
export async function untilEncrypted(account: Account, roomId: string, clock: () => number): Promise<Room> {
  const begun = performance.now();
  for (;;) {
    await takeSync(account, clock);
    const room = account.book.rooms.get(roomId);
    if (room?.filled === true && room.mine === 'join') {
      if (room.encrypted) return room;
      throw new OperationError('no_encryption', 'The room of the other side is not encrypted.');
    }
    if (room?.mine === 'leave') throw new OperationError('conflict', 'The conversation was left meanwhile.');
    if (performance.now() - begun > APPEARS_MS)
      throw new OperationError('unavailable', 'The homeserver does not show the room. Try again later.');
    await account.apart(() => delay(PAUSE_MS));
  }
}
