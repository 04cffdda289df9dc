// Ed25519 keys (RFC 8032): made once and kept in a file for its owner, or derived from a seed; what they sign is text
// that begins with its purpose, so that a signature for one thing is never one for another.

import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { sizeText } from '@platform/contract/sizes';
import { isUsablePoint } from './edwards-point.ts';

export interface LinkKey {
  readonly privateKey: KeyObject;
  /** The public half, 32 bytes. */
  readonly publicKey: Buffer;
}

const SEED_BYTES = 32;
/** PrivateKeyInfo of Ed25519 up to the seed (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The key in `file`, made at the first call; readable for its owner only.
 *
 * @throws Error when the file holds anything else, or cannot be read or written
 */
export function loadOrMakeKey(file: string): LinkKey {
  return loadKey(file) ?? makeKey(file);
}

/** The key that this secret of 32 bytes stands for. */
export function keyFromSeed(seed: Buffer): LinkKey {
  if (seed.length !== SEED_BYTES) throw new Error(`a seed has ${sizeText(SEED_BYTES)}`);
  return linkKey(createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' }));
}

/** The 32 bytes that {@link keyFromSeed} makes the key of. */
export function seedOf({ privateKey }: LinkKey): Buffer {
  return Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
}

/** The 32 bytes of a public key as text: base64url, 43 characters. */
export function publicKeyText(publicKey: Buffer): string {
  return publicKey.toString('base64url');
}

/** The public key that a text stands for, or `null` when it is none, or one that holders of no private key sign for. */
export function readPublicKey(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text && isUsablePoint(bytes) ? bytes : null;
}

/** @returns 64 bytes, base64url */
export function signText({ privateKey }: LinkKey, text: string): string {
  return sign(null, Buffer.from(text, 'utf8'), privateKey).toString('base64url');
}

/** Whether the signature is of this key (Ed25519) over the UTF-8 bytes of the text; `signature` is base64url. */
export function verifyText(publicKey: Buffer, text: string, signature: string): boolean {
  return verify(null, Buffer.from(text, 'utf8'), publicKeyObject(publicKey), Buffer.from(signature, 'base64url'));
}

function publicKeyObject(publicKey: Buffer): KeyObject {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
}

function linkKey(privateKey: KeyObject): LinkKey {
  const publicKey = rawPublicKey(createPublicKey(privateKey));
  if (publicKey === null) throw new Error('the key is not an Ed25519 key');
  return { privateKey, publicKey };
}

/** The 32 bytes of an Ed25519 key, `null` for a key of another kind. */
export function rawPublicKey(key: KeyObject): Buffer | null {
  if (key.asymmetricKeyType !== 'ed25519') return null;
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}

/** The key in `file`, `null` without one. @throws Error when the file holds anything else, or cannot be read */
export function loadKey(file: string): LinkKey | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  return linkKey(createPrivateKey(text));
}

/** Written under another name first: a process that dies here leaves no half key, and of two the first one's stays. */
function makeKey(file: string): LinkKey {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${file}.${process.pid}`;
  rmSync(draft, { force: true });
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const kept = loadKey(file);
  if (kept === null) throw new Error(`the key ${file} vanished while it was made`);
  return kept;
}
