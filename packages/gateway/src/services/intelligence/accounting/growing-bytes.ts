/** Bytes in one piece that grows: what it takes does not depend on the size of the pieces that they come in. */
export class GrowingBytes {
  readonly #take: (bytes: number) => boolean;
  #held: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @param take asked before more memory is taken; default: always granted */
  constructor(take: (bytes: number) => boolean = () => true) {
    this.#take = take;
  }

  get length(): number {
    return this.#length;
  }

  /** @returns false when there is no memory for it, and it was not kept */
  push(bytes: Buffer): boolean {
    const length = this.#length + bytes.length;
    if (length > this.#held.length) {
      const size = Math.max(length, this.#held.length * 2, 512);
      if (!this.#take(size - this.#held.length)) return false;
      const grown = Buffer.allocUnsafe(size);
      this.#held.copy(grown, 0, 0, this.#length);
      this.#held = grown;
    }
    bytes.copy(this.#held, this.#length);
    this.#length = length;
    return true;
  }

  /** What was kept; valid until the next call of `push` or `clear`. */
  bytes(): Buffer {
    return this.#held.subarray(0, this.#length);
  }

  /** Forgets the bytes, and keeps a little of the memory. */
  clear(): void {
    this.#length = 0;
    if (this.#held.length > 64 * 1024) this.#held = Buffer.alloc(0);
  }
}
