// Bytes in one buffer, however many pieces they came in: a piece of one byte costs one byte.

const FIRST_BYTES = 4 * 1024;
const KEPT_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export class Pile {
  #buffer: Buffer = NOTHING;
  #length = 0;

  /** Bytes in it. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that it takes: less than twice those in it, and at least 4 KiB while there are some. */
  get size(): number {
    return this.#buffer.length;
  }

  /** What {@link size} would be with so many bytes more. */
  sizeWith(bytes: number): number {
    const needed = this.#length + bytes;
    let size = Math.max(this.#buffer.length, FIRST_BYTES);
    while (size < needed) size *= 2;
    return size;
  }

  add(piece: Uint8Array): void {
    const size = this.sizeWith(piece.length);
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length += piece.length;
  }

  /**
   * Adds `piece` if `take` grants the memory that the pile needs beyond what it has.
   *
   * @returns false when it was refused, and nothing was added
   */
  tryAdd(piece: Uint8Array, take: (bytes: number) => boolean): boolean {
    const more = this.sizeWith(piece.length) - this.#buffer.length;
    if (more > 0 && !take(more)) return false;
    this.add(piece);
    return true;
  }

  /** The bytes where they lie; valid until the next call that changes the pile. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Forgets the bytes and keeps a little of the memory, for a pile that is filled again and again. */
  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = NOTHING;
  }

  /** All bytes. It is empty afterwards and holds nothing. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = NOTHING;
    this.#length = 0;
    // A few bytes would hold on to the whole buffer.
    return taken.length * 2 < taken.buffer.byteLength ? Buffer.from(taken) : taken;
  }
}
