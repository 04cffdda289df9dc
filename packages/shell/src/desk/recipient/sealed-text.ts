// What an app gets of `recipient.seal`: HPKE (RFC 9180, base mode: X25519, HKDF-SHA256, AES-256-GCM) for the recipient of the
// account, bound to the app. Text is base64url of: 1, the first eight bytes of SHA-256 of the public key, the encapsulated key,
// the ciphertext.
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { bytesOf, textOf } from './base64url.ts';
import type { RecipientKey } from './recipient-key.ts';

const FORMAT = 1;
const ID_BYTES = 8;
const ENC_BYTES = 32;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES + ENC_BYTES;
const INFO = new TextEncoder().encode('platform/recipient/app/v1');

const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });

export interface SealedText {
  /** Of the key that opens it. */
  readonly keyId: string;
  readonly enc: Uint8Array<ArrayBuffer>;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
}

/** Tells the keys of an account apart. */
export async function keyIdOf(publicKey: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', bytesOf(publicKey) ?? new Uint8Array());
  return textOf(new Uint8Array(hash).slice(0, ID_BYTES));
}

export async function sealText(key: RecipientKey, appId: string, plaintext: Uint8Array): Promise<string> {
  const about = aboutOf(appId);
  const sealed = await suite.seal({ recipientPublicKey: key.pair.publicKey, info: INFO }, plaintext.slice(), about);
  const id = bytesOf(await keyIdOf(key.publicKey)) ?? new Uint8Array();
  return textOf(new Uint8Array([FORMAT, ...id, ...new Uint8Array(sealed.enc), ...new Uint8Array(sealed.ct)]));
}

/** `null` for what no shell of this platform sealed. */
export function readSealed(text: string): SealedText | null {
  const bytes = bytesOf(text);
  if (bytes === null || bytes[0] !== FORMAT || bytes.length < HEAD_BYTES + TAG_BYTES) return null;
  return {
    keyId: textOf(bytes.slice(1, 1 + ID_BYTES)),
    enc: bytes.slice(1 + ID_BYTES, HEAD_BYTES),
    ciphertext: bytes.slice(HEAD_BYTES),
  };
}

/** `null` where it was sealed for another app or key, or changed. */
export async function openText(
  { pair }: RecipientKey,
  appId: string,
  { enc, ciphertext }: SealedText,
): Promise<Uint8Array | null> {
  try {
    const opened = await suite.open({ recipientKey: pair, info: INFO, enc }, ciphertext, aboutOf(appId));
    return new Uint8Array(opened);
  } catch {
    return null;
  }
}

function aboutOf(appId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(['app', appId]));
}
