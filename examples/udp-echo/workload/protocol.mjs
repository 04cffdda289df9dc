// The protocol of UDP Echo, for server and client. Every datagram but the greeting is sealed with AEAD:
//
//   1 greeting  client → server   1 | session (16 random bytes) | proof (32)
//   2 welcome   server → client   2 | session | salt (16 random bytes) | proof (16)
//   3 request   client → server   3 | session | counter (8) | sealed payload | tag (16)
//   4 answer    server → client   4 | session | counter (8) | sealed payload | tag (16)
//
// The proofs show knowledge of the key. Keys of a session come from the key, and from random bytes of both sides: what was
// recorded of one session is worth nothing in another one. There is no forward secrecy, see the README.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

export const GREETING = 1;
export const WELCOME = 2;
export const REQUEST = 3;
export const ANSWER = 4;
export const SESSION_BYTES = 16;
export const SALT_BYTES = 16;
export const GREETING_BYTES = 1 + SESSION_BYTES + 32;
export const WELCOME_BYTES = 1 + SESSION_BYTES + SALT_BYTES + 16;
const HEAD_BYTES = 1 + SESSION_BYTES + 8;
const TAG_BYTES = 16;
export const LEAST_SEALED_BYTES = HEAD_BYTES + TAG_BYTES;
/** Of a whole datagram: what every network carries in one piece. */
export const MOST_BYTES = 1_200;

export function proofOf(key, start, bytes) {
  return createHmac('sha256', key).update(start).digest().subarray(0, bytes);
}

/** One key for each direction, so that a nonce is never used twice with one. */
export function sessionKeys(key, session, salt) {
  const derive = (info) => Buffer.from(hkdfSync('sha256', key, Buffer.concat([session, salt]), info, 32));
  return { toServer: derive('udp-echo 1 to server'), toClient: derive('udp-echo 1 to client') };
}

/** @param counter a number that this side has not used in this session */
export function seal(type, { session, key, counter, payload }) {
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = type;
  session.copy(head, 1);
  head.writeBigUInt64BE(counter, 1 + SESSION_BYTES);
  const cipher = createCipheriv('chacha20-poly1305', key, nonceOf(counter), { authTagLength: TAG_BYTES });
  cipher.setAAD(head, { plaintextLength: payload.length });
  return Buffer.concat([head, cipher.update(payload), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined for what was not sealed with this key, or was changed on its way. */
export function unseal(datagram, key) {
  const head = datagram.subarray(0, HEAD_BYTES);
  const counter = head.readBigUInt64BE(1 + SESSION_BYTES);
  const sealed = datagram.subarray(HEAD_BYTES, -TAG_BYTES);
  const decipher = createDecipheriv('chacha20-poly1305', key, nonceOf(counter), { authTagLength: TAG_BYTES });
  decipher.setAAD(head, { plaintextLength: sealed.length });
  decipher.setAuthTag(datagram.subarray(-TAG_BYTES));
  try {
    return { counter, payload: Buffer.concat([decipher.update(sealed), decipher.final()]) };
  } catch {
    return undefined;
  }
}

function nonceOf(counter) {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(counter, 4);
  return nonce;
}
