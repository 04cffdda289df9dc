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

  /** Without an object for each frame, as there may be one in two bytes. */
  passed(piece: Buffer): void {
    const bytes = this.#begun === null ? piece : Buffer.concat([this.#begun, piece]);
    this.#begun = null;
    let at = 0;
    while (at < bytes.length) {
      const taken = Math.min(this.#payload, bytes.length - at);
      this.#payload -= taken;
      at += taken;
      if (at === bytes.length) return;
      const header = headerLength(bytes, at);
      if (header === null || at + header > bytes.length) {
        // A copy: the piece may be long.
        this.#begun = Buffer.from(bytes.subarray(at));
        return;
      }
      this.#payload = payloadOf(bytes, at);
      at += header;
    }
  }
}

/** Of the frame that begins there, in bytes; `null` as long as that is not known. */
function headerLength(bytes: Buffer, at: number): number | null {
  const second = bytes[at + 1];
  if (second === undefined) return null;
  const short = second & ~MASK;
  const extended = short === LONG_LENGTH ? 8 : short === SHORT_LENGTH ? 2 : 0;
  return 2 + extended + ((second & MASK) === 0 ? 0 : 4);
}

/** Of a frame whose header is there. */
function payloadOf(bytes: Buffer, at: number): number {
  const short = (bytes[at + 1] ?? 0) & ~MASK;
  if (short === SHORT_LENGTH) return bytes.readUInt16BE(at + 2);
  return short === LONG_LENGTH ? Number(bytes.readBigUInt64BE(at + 2)) : short;
}
