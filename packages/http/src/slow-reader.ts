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

/** What was written for a client, and how much of it is on its way. Both only grow. */
export interface ReadingProgress {
  readonly given: number;
  readonly taken: number;
}

/** Five looks at a client within the time of `rate`. */
export interface ReadingWatch {
  /** Milliseconds from look to look. */
  readonly interval: number;
  /** @returns true when bytes have waited all that time and the client was slower than the rate */
  look(now: ReadingProgress): boolean;
}

/** Watches whether a reader takes at least so many bytes a second while bytes wait for it. */
export function watchReading({ bytesPerSecond, milliseconds }: ReadingRate, begin: ReadingProgress): ReadingWatch {
  const least = (bytesPerSecond * milliseconds) / 1_000;
  let start = begin;
  let looks = 0;
  return {
    interval: milliseconds / LOOKS,
    look(now) {
      if (now.taken >= start.given || now.taken - start.taken >= least) {
        // Nothing waits that waited at the start, or enough was taken: the time starts anew.
        start = now;
        looks = 0;
        return false;
      }
      looks += 1;
      return looks === LOOKS;
    },
  };
}

/**
 * Destroys `socket` when bytes have waited there for `milliseconds`, and its client was slower than the rate all that
 * time; also one that has switched to another protocol.
 */
export function requireReading(socket: Socket, rate: ReadingRate): void {
  const watch = watchReading(rate, progressOf(socket));
  const timer = setInterval(() => {
    if (watch.look(progressOf(socket))) socket.destroy();
  }, watch.interval);
  socket.once('close', () => clearInterval(timer));
}

/** Bytes that were written to the socket, and those of them that the kernel has taken over. */
function progressOf(socket: Socket): ReadingProgress {
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
