// Ends connections whose client asks for answers and does not take them: until then it holds a connection, a buffer, and
// whatever produces the answer.
import type { Socket } from 'node:net';

/** What a client has to take of an answer that waits for it. A connection on which nothing waits may be silent. */
export interface ReadingRate {
  /** Bytes per second, on average over `milliseconds`. */
  readonly bytesPerSecond: number;
  readonly milliseconds: number;
}

/** How often the rate is looked at within its time. */
const LOOKS = 5;

/**
 * Destroys `socket` when bytes have waited there for `milliseconds`, and its client was slower than the rate all that
 * time; also one that has switched to another protocol.
 */
export function requireReading(socket: Socket, { bytesPerSecond, milliseconds }: ReadingRate): void {
  const least = (bytesPerSecond * milliseconds) / 1_000;
  let start = progressOf(socket);
  let looks = 0;
  const timer = setInterval(() => {
    const now = progressOf(socket);
    if (now.taken >= start.given || now.taken - start.taken >= least) {
      // Nothing waits that waited at the start, or enough was taken: the time starts anew.
      start = now;
      looks = 0;
      return;
    }
    looks += 1;
    if (looks === LOOKS) socket.destroy();
  }, milliseconds / LOOKS);
  socket.once('close', () => clearInterval(timer));
}

/** Bytes that were written to the socket, and those of them that the kernel has taken over. */
function progressOf(socket: Socket): { readonly given: number; readonly taken: number } {
  const given = socket.bytesWritten;
  // One write may be of any length, and the public figures count it as a whole when it ends. Node's own time limit for
  // writes looks at this figure too: what is left of the writes under way.
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return { given, taken: given };
  const dispatched: unknown = Reflect.get(handle, 'bytesWritten');
  const left: unknown = Reflect.get(handle, 'writeQueueSize');
  if (typeof dispatched === 'number' && typeof left === 'number') return { given, taken: dispatched - left };
  return { given, taken: given - socket.writableLength };
}
