// Where one WebSocket frame ends and the next begins, in the bytes from a backend to a client: only there may an Ingress that
// stops say so with a frame of its own (RFC 6455 section 7.4.1, 1001 "going away"). Frames are not otherwise looked at.

/** FIN and close, two bytes: 1001. */
export const GOING_AWAY = Buffer.from([0x88, 2, 0x03, 0xe9]);

const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;
const MASK = 0x80;

/** Follows the frames of one direction. */
export class FrameBoundary {
  /** Bytes of the payload that are still to come. */
  #payload = 0;
  /** A header of which some bytes are still to come; mostly one arrives whole. */
  #begun: Buffer | null = null;

  /** Whether the bytes so far end with a whole frame. */
  get isAt(): boolean {
    return this.#payload === 0 && this.#begun === null;
  }

  passed(piece: Buffer): void {
    let bytes = this.#begun === null ? piece : Buffer.concat([this.#begun, piece]);
    this.#begun = null;
    while (bytes.length > 0) {
      const taken = Math.min(this.#payload, bytes.length);
      this.#payload -= taken;
      bytes = bytes.subarray(taken);
      if (bytes.length === 0) return;
      const header = headerOf(bytes);
      if (header === null) {
        // A copy: the piece may be long.
        this.#begun = Buffer.from(bytes);
        return;
      }
      this.#payload = header.payload;
      bytes = bytes.subarray(header.length);
    }
  }
}

/** Of the frame that begins here, in bytes; `null` while some of its header is missing. */
function headerOf(bytes: Buffer): { readonly length: number; readonly payload: number } | null {
  const second = bytes[1];
  if (second === undefined) return null;
  const short = second & ~MASK;
  const extended = short === LONG_LENGTH ? 8 : short === SHORT_LENGTH ? 2 : 0;
  const length = 2 + extended + ((second & MASK) === 0 ? 0 : 4);
  if (bytes.length < length) return null;
  if (extended === 0) return { length, payload: short };
  return { length, payload: extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)) };
}
