// Opaque cursors of paged lists: signed, and bound to the list, its filters and its owner.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { refuse } from '@platform/contract';

export interface CursorCodec {
  /** `list` names the list with everything that selects it, e.g. `notifications:acct-…:unread`. */
  encode(list: string, position: unknown): string;
  /** @throws RefusalError `invalid_cursor` for a cursor that was changed or belongs to another list */
  decode(list: string, cursor: string): unknown;
}

const MAC_BYTES = 16;

export function cursorCodec(key: Buffer): CursorCodec {
  function mac(list: string, payload: Buffer): Buffer {
    return createHmac('sha256', key).update(`cursor\0${list}\0`).update(payload).digest().subarray(0, MAC_BYTES);
  }
  return {
    encode(list, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(list, payload), payload]).toString('base64url');
    },
    decode(list, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding is lenient: one cursor has one spelling.
      if (bytes.toString('base64url') !== cursor) throw refuse('invalid_cursor');
      const payload = bytes.subarray(MAC_BYTES);
      if (bytes.length <= MAC_BYTES || !timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(list, payload)))
        throw refuse('invalid_cursor');
      return JSON.parse(payload.toString('utf8'));
    },
  };
}
