// The key pair of the recipient (X25519): made here, wrapped for passkeys under their PRF results, and kept so that it never leaves
// the browser again. Its private bytes are in memory only inside the functions of this file.
import { bytesOf, textOf } from './base64url.ts';

/** As RFC 8410 writes a private key of X25519, before its 32 bytes. */
const PKCS8 = new Uint8Array([
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20,
]);
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const INFO = new TextEncoder().encode('platform/recipient/v1');

/** What this browser keeps: the private key can be used, and not exported. */
export interface RecipientKey {
  /** base64url */
  readonly publicKey: string;
  readonly pair: CryptoKeyPair;
}

/** A private key in the open, for as long as it is wrapped for passkeys. To be overwritten with `wipe`. */
export interface OpenKey {
  readonly publicKey: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What opens or makes a wrapping. */
export interface WrappingKey {
  readonly passkeyId: string;
  /** Result of the PRF for the salt of the wrapping. */
  readonly result: Uint8Array;
}

/** As core names a passkey: SHA-256 of its credential id. */
export async function passkeyIdOf(credentialId: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(credentialId)));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @throws DOMException in a browser without X25519 */
export async function newOpenKey(): Promise<OpenKey> {
  const pair = (await crypto.subtle.generateKey({ name: 'X25519' }, true, ['deriveBits'])) as CryptoKeyPair;
  const [whole, publicKey] = await Promise.all([
    crypto.subtle.exportKey('pkcs8', pair.privateKey),
    crypto.subtle.exportKey('raw', pair.publicKey),
  ]);
  const bytes = new Uint8Array(whole).slice(-KEY_BYTES);
  new Uint8Array(whole).fill(0);
  return { publicKey: textOf(new Uint8Array(publicKey)), bytes };
}

export function wipe(key: OpenKey | null): void {
  key?.bytes.fill(0);
}

/** @returns nonce and ciphertext, base64url */
export async function wrap({ bytes }: OpenKey, by: WrappingKey): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(cipherOf(by, iv), await keyOf(by), bytes);
  const whole = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  whole.set(iv);
  whole.set(new Uint8Array(sealed), NONCE_BYTES);
  return textOf(whole);
}

/** `null` where it is not the private key of `publicKey`, wrapped for this passkey. */
export async function unwrap(sealed: string, by: WrappingKey, publicKey: string): Promise<OpenKey | null> {
  const whole = bytesOf(sealed);
  if (whole === null) return null;
  const cipher = cipherOf(by, whole.slice(0, NONCE_BYTES));
  const opened = await crypto.subtle
    .decrypt(cipher, await keyOf(by), whole.slice(NONCE_BYTES))
    .then((bytes) => new Uint8Array(bytes))
    .catch(() => null);
  if (opened === null) return null;
  const key = { publicKey, bytes: opened };
  if (opened.length === KEY_BYTES && (await isOf(key))) return key;
  wipe(key);
  return null;
}

/** For the store of this browser. */
export async function sealedIn({ publicKey, bytes }: OpenKey): Promise<RecipientKey> {
  const whole = new Uint8Array(PKCS8.length + KEY_BYTES);
  whole.set(PKCS8);
  whole.set(bytes, PKCS8.length);
  const privateKey = await crypto.subtle.importKey('pkcs8', whole, { name: 'X25519' }, false, ['deriveBits']);
  whole.fill(0);
  return { publicKey, pair: { publicKey: await publicKeyOf(publicKey), privateKey } };
}

function publicKeyOf(text: string): Promise<CryptoKey> {
  const bytes = bytesOf(text);
  if (bytes === null) throw new Error('The public key of the account is none.');
  return crypto.subtle.importKey('raw', bytes, { name: 'X25519' }, true, []);
}

/** Whether the two halves belong together: both agree with a third pair on the same secret. */
async function isOf(key: OpenKey): Promise<boolean> {
  try {
    const { pair } = await sealedIn(key);
    const third = (await crypto.subtle.generateKey({ name: 'X25519' }, false, ['deriveBits'])) as CryptoKeyPair;
    const [one, other] = await Promise.all([
      crypto.subtle.deriveBits({ name: 'X25519', public: third.publicKey }, pair.privateKey, 256),
      crypto.subtle.deriveBits({ name: 'X25519', public: pair.publicKey }, third.privateKey, 256),
    ]);
    return textOf(new Uint8Array(one)) === textOf(new Uint8Array(other));
  } catch {
    return false;
  }
}

function cipherOf({ passkeyId }: WrappingKey, iv: Uint8Array<ArrayBuffer>): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData: new TextEncoder().encode(passkeyId) };
}

async function keyOf({ result }: WrappingKey): Promise<CryptoKey> {
  const secret = await crypto.subtle.importKey('raw', result.slice(), 'HKDF', false, ['deriveKey']);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: INFO };
  return crypto.subtle.deriveKey(derivation, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
}
