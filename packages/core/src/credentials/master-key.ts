// What is derived from or sealed with the master key: one purpose, one key (HKDF-SHA256, RFC 5869).
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { credentialPrefixes, type InstallationId } from '@platform/contract';
import { keyFromSeed, type LinkKey } from '@platform/link';

/**
 * By master key, then by purpose: purposes are few, and a derivation takes longer than what is done with its key. Key
 * objects, because Node takes as long again to find out that bytes are none.
 */
const purposeKeys = new WeakMap<Buffer, Map<string, KeyObject>>();

function purposeKey(masterKey: Buffer, purpose: string): KeyObject {
  const known = purposeKeys.get(masterKey) ?? new Map<string, KeyObject>();
  purposeKeys.set(masterKey, known);
  const former = known.get(purpose);
  if (former !== undefined) return former;
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', `platform/${purpose}/v1`, 32)));
  known.set(purpose, key);
  return key;
}

/**
 * The data-plane capability of an installation on a node of a former version, which compares what clients present with
 * the one that its assignment names. Lives as long as the installation; a new `generation` ends the former one.
 */
export function dataPlaneCapability(masterKey: Buffer, installationId: InstallationId, generation: number): string {
  const mac = createHmac('sha256', purposeKey(masterKey, 'data-plane')).update(`${installationId}\0${generation}`);
  return credentialPrefixes.dataPlane + mac.digest('base64url');
}

/** The key by which nodes know core, the same on every replica. */
export function linkKeyOf(masterKey: Buffer): LinkKey {
  return keyFromSeed(purposeKey(masterKey, 'link').export());
}

/** A lookup key for a value that is stored sealed; without the master key candidate values cannot be tested. */
export function keyedHash(masterKey: Buffer, purpose: string, value: string): Buffer {
  return createHmac('sha256', purposeKey(masterKey, purpose)).update(value).digest();
}

/** AES-256-GCM: 12 bytes nonce, ciphertext, 16 bytes tag. `context` binds the value to its place. */
export function seal(
  masterKey: Buffer,
  purpose: string,
  context: string,
  plain: Buffer,
  random: (bytes: number) => Buffer,
): Buffer {
  const nonce = random(12);
  const cipher = createCipheriv('aes-256-gcm', purposeKey(masterKey, purpose), nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the value was changed or belongs to another place or key. */
export function unseal(masterKey: Buffer, purpose: string, context: string, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', purposeKey(masterKey, purpose), sealed.subarray(0, 12));
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
}
