// When a handshake begins. It takes the thread of all clients half a millisecond and more, and costs the one that asks for it 500
// bytes. So a network that begins many of them waits for its turn in a part of the thread, behind itself and its like.
import type { Socket } from 'node:net';
import { clientNetwork } from '@platform/contract';
import { openThreadShare, type ThreadShare } from '@platform/http';
import { TokenBuckets } from '../token-buckets.ts';

/** Handshakes of one network that wait for nobody: at once, and in each second. */
const FREE_AT_ONCE = 256;
const FREE_IN_SECOND = 16;
/** Of the thread, for all others together. */
const SHARE = 1 / 5;

/** @returns what begins the handshake of a connection: now, when it is its turn, or never if its client leaves before */
export function openHandshakeTurns(
  milliseconds: number,
  share: ThreadShare = openThreadShare(SHARE),
): (socket: Socket, begin: () => void) => void {
  const now = (): number => performance.now();
  const free = new TokenBuckets({ rate: FREE_IN_SECOND, burst: FREE_AT_ONCE, now });
  return (socket, begin) => {
    if (free.take(clientNetwork(socket.remoteAddress ?? '')) === 0) {
      begin();
      return;
    }
    const end = (): void => void socket.destroy();
    const late = setTimeout(end, milliseconds);
    socket.once('close', () => clearTimeout(late));
    // Until somebody else takes it over, an error of it would be nobody's.
    socket.once('error', end);
    share.take(() => {
      clearTimeout(late);
      if (socket.destroyed) return;
      socket.removeListener('error', end);
      begin();
    });
  };
}
