// A request to compare keys is declined, since nobody is there who could compare: the other side would otherwise wait for ten
// minutes. What is answered is encrypted, as everything is.
import type { Account } from '../accounts/account.ts';
import { MatrixError } from '../matrix/homeserver.ts';
import { anything } from '../matrix/shapes.ts';
import { presentIn } from './take-rooms.ts';

/** Within the account's turn. */
export async function declineComparisons(account: Account): Promise<void> {
  const { book, machine, homeserver, as } = account;
  for (const { id, roomId } of [...book.comparisons.values()]) {
    const room = book.rooms.get(roomId);
    if (room?.mine === 'join' && room.encrypted && !room.dead) {
      const obstacles = await machine.share(roomId, presentIn(room));
      if (Object.values(obstacles).every((people) => people.length === 0)) {
        const content = {
          code: 'm.user',
          reason: 'Keys can’t be compared here.',
          'm.relates_to': { rel_type: 'm.reference', event_id: id },
        };
        const body = await machine.encrypt(roomId, 'm.key.verification.cancel', content);
        await homeserver
          .request(as, {
            method: 'PUT',
            // The account is part of the name, as with messages.
            path: ['_matrix', 'client', 'v3', 'rooms', roomId, 'send', 'm.room.encrypted', `${as.userId} ${id}`],
            body,
            answer: anything,
          })
          .catch((error: unknown) => {
            // The room may have been left.
            if (!(error instanceof MatrixError) || error.status === 429) throw error;
          });
      }
    }
    book.comparisons.delete(roomId);
  }
}
