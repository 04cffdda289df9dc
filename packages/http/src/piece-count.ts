// A piece costs the thread that parses it about a microsecond, however few bytes it has: 64 KiB of one-byte chunks, which are read
// at once, hold up everybody else for ten milliseconds. So a stream that has many is read in steps of a share of the thread.
import { openThreadShare } from './thread-share.ts';

/** Pieces of one stream that cost it nothing: at once, and in each millisecond. */
const FREE_PIECES = 256;
const FREE_IN_MILLISECOND = 1;

/** Of this process, for all streams that have too many pieces. */
export const pieceShare = openThreadShare(1 / 5);

/** The small pieces of one stream. */
export class PieceCount {
  readonly #now: () => number;
  #pieces = 0;
  #free = FREE_PIECES;
  #at: number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** Since it was last asked whether they are too many. */
  get recent(): number {
    return this.#pieces;
  }

  add(): void {
    this.#pieces += 1;
  }

  areTooMany(): boolean {
    if (this.#pieces === 0) return false;
    const time = this.#now();
    const free = Math.min(FREE_PIECES, this.#free + (time - this.#at) * FREE_IN_MILLISECOND) - this.#pieces;
    this.#at = time;
    this.#pieces = 0;
    this.#free = Math.max(0, free);
    return free < 0;
  }
}
