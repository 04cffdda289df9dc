// Which public keys a passkey may have. The library checks a key only when it verifies something with it, which is too
// late at registration without attestation: an account whose key can never verify could not be signed in to.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { isUsablePoint } from '@platform/link';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import type { CeremonyFault } from './ceremony-fault.ts';
import { EDDSA, ES256, passkeyAlgorithms } from './passkey-algorithms.ts';

/** Labels of COSE keys (RFC 9052, section 7.1; RFC 9053, section 7; RFC 8230, section 4). */
const LABEL = { keyType: 1, algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 };
const RSA_BITS = { least: 2048, most: 8192 };
/** A larger one only makes each verification dearer; every authenticator uses 65,537. */
const MOST_EXPONENT = 2n ** 32n;

type CoseKey = ReadonlyMap<unknown, unknown>;

/** A key of a pinned algorithm with exactly the members that it needs, whose point lies on its curve. */
export function checkPublicKey(cose: Uint8Array): CeremonyFault | null {
  const key: unknown = isoCBOR.decodeFirst(new Uint8Array(cose));
  if (!(key instanceof Map)) return 'public-key-malformed';
  const algorithm = key.get(LABEL.algorithm);
  if (!passkeyAlgorithms.includes(algorithm)) return 'algorithm-not-offered';
  const jwk = algorithm === ES256 ? ellipticKey(key) : algorithm === EDDSA ? edwardsKey(key) : rsaKey(key);
  return jwk !== null && isUsable(jwk) ? null : 'public-key-malformed';
}

function ellipticKey(key: CoseKey): JsonWebKey | null {
  const x = bytes(key.get(LABEL.x), 32);
  const y = bytes(key.get(LABEL.y), 32);
  if (key.size !== 5 || key.get(LABEL.keyType) !== 2 || key.get(LABEL.curve) !== 1 || !x || !y) return null;
  return { kty: 'EC', crv: 'P-256', x, y };
}

function edwardsKey(key: CoseKey): JsonWebKey | null {
  const point: unknown = key.get(LABEL.x);
  const x = bytes(point, 32);
  if (key.size !== 4 || key.get(LABEL.keyType) !== 1 || key.get(LABEL.curve) !== 6 || !x) return null;
  return point instanceof Uint8Array && isUsablePoint(point) ? { kty: 'OKP', crv: 'Ed25519', x } : null;
}

function rsaKey(key: CoseKey): JsonWebKey | null {
  const n = oddNumber(key.get(LABEL.modulus));
  const e = oddNumber(key.get(LABEL.exponent));
  if (key.size !== 4 || key.get(LABEL.keyType) !== 3 || !n || !e) return null;
  return { kty: 'RSA', n, e };
}

function bytes(value: unknown, length?: number): string | null {
  if (!(value instanceof Uint8Array) || (length !== undefined && value.length !== length)) return null;
  return Buffer.from(value).toString('base64url');
}

/** An odd number without leading zeros (RFC 8230, section 4): an even modulus has a known factor. */
function oddNumber(value: unknown): string | null {
  if (!(value instanceof Uint8Array) || value[0] === 0 || ((value.at(-1) ?? 0) & 1) === 0) return null;
  return bytes(value);
}

function isUsable(jwk: JsonWebKey): boolean {
  try {
    const { modulusLength, publicExponent } = createPublicKey({ key: jwk, format: 'jwk' }).asymmetricKeyDetails ?? {};
    if (jwk.kty !== 'RSA') return true;
    return (
      modulusLength !== undefined &&
      modulusLength >= RSA_BITS.least &&
      modulusLength <= RSA_BITS.most &&
      publicExponent !== undefined &&
      publicExponent >= 3n &&
      publicExponent < MOST_EXPONENT
    );
  } catch {
    // Not a point of the curve, or no key at all.
    return false;
  }
}

/**
 * Whether an ECDSA signature is the one DER encoding of two positive numbers (X.690, section 8.3). The library reads
 * negative numbers as positive ones and skips what follows the sequence, so that one signature had many spellings.
 */
export function isStrictEcdsaSignature(signature: Uint8Array): boolean {
  const length = signature[1] ?? 0;
  if (signature[0] !== 0x30 || length > 0x7f || signature.length !== length + 2) return false;
  const rEnd = integerEnd(signature, 2);
  return rEnd !== null && integerEnd(signature, rEnd) === signature.length;
}

function integerEnd(der: Uint8Array, start: number): number | null {
  const [tag, length = 0, first = 0, second = 0] = der.subarray(start, start + 4);
  const end = start + 2 + length;
  if (tag !== 0x02 || length === 0 || end > der.length || first > 0x7f) return null;
  return length > 1 && first === 0 && second < 0x80 ? null : end;
}

/** Whether signatures of the key are ECDSA, which come in DER (WebAuthn Level 3, section 6.5.5). */
export function isEllipticKey(cose: Uint8Array): boolean {
  return algorithmOf(cose) === ES256;
}

/** COSE algorithm of a key, `undefined` when it names none. */
export function algorithmOf(cose: Uint8Array): unknown {
  const key: unknown = isoCBOR.decodeFirst(new Uint8Array(cose));
  return key instanceof Map ? key.get(LABEL.algorithm) : undefined;
}

/** `r` of a signature in strict DER, which nobody without the private key can change; `null` for anything else. */
export function ecdsaCommitment(signature: Uint8Array): Uint8Array | null {
  if (!isStrictEcdsaSignature(signature)) return null;
  return signature.subarray(2, integerEnd(signature, 2) ?? 2);
}
