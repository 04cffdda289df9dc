// Which text is secret material by itself, whatever the name it stands under, and what text is wrapped in text.
import { holdsMnemonic } from './mnemonic.ts';
import type { ScanBudget } from './scan-budget.ts';

export type ForbiddenKind =
  | 'PRF result'
  | 'private key'
  | 'recovery phrase'
  | 'seed'
  | 'plaintext bundle'
  | 'more text than can be searched';

/** Every repetition is bounded: a hostile text of the largest size is read in milliseconds. */
const PRIVATE_KEYS = [
  // PEM of every family (RFC 7468), OpenPGP (RFC 9580, section 6.2).
  /-----\s{0,9}BEGIN\s{1,9}(?:[A-Z0-9]{1,20}\s{1,9}){0,3}PRIVATE\s{1,9}KEY(?:\s{1,9}BLOCK)?\s{0,9}-----/i,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{50,}/i,
  // Extended private keys (BIP-32, SLIP-132).
  /\b[tuvxyz]prv[1-9A-HJ-NP-Za-km-z]{100,}/,
];
/** To the end of the address, so that of many beginnings in one text each is read once. */
const ONE_TIME_PASSWORD = /\botpauth:\/\/\S*/gi;

/** Text shorter than this is no key and no phrase. */
const SHORTEST = 24;
/** Text shorter than this wraps nothing that has a name and a value. */
const SHORTEST_WRAPPED = 12;

/**
 * What the text holds, or `null`. Names of things ("Private Key Jazz Band"), digests and public keys are no secret.
 *
 * @throws TooMuchToScan when the budget does not cover the text
 */
export function forbiddenText(text: string, budget: ScanBudget): ForbiddenKind | null {
  budget.spend(text.length);
  if (text.length < SHORTEST) return null;
  const plain = text.replace(/\p{Cf}/gu, '');
  if (PRIVATE_KEYS.some((pattern) => pattern.test(plain))) return 'private key';
  if (holdsOneTimePasswordSeed(plain)) return 'seed';
  return holdsMnemonic(plain, budget) ? 'recovery phrase' : null;
}

function holdsOneTimePasswordSeed(text: string): boolean {
  for (const [address] of text.matchAll(ONE_TIME_PASSWORD)) if (/[?&]secret=/i.test(address)) return true;
  return false;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const HEXADECIMAL = /^(?:0x)?(?:[0-9a-f]{2})+$/i;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The text inside base64, base64url, hexadecimal or percent-encoding; or at once what binary content turned out to be. */
export function decodedLayers(text: string): (string | { readonly kind: ForbiddenKind })[] {
  const compact = text.replace(/^data:[^,]{0,100};base64,/i, '').replace(/\s+/g, '');
  const layers: (string | { readonly kind: ForbiddenKind })[] = [];
  if (compact.length < SHORTEST_WRAPPED) return layers;
  const unescaped = compact.includes('%') ? percentDecoded(text) : text;
  // A percent sign that encodes nothing is no wrapping.
  if (unescaped !== text) layers.push(unescaped);
  const encodings: BufferEncoding[] = [];
  if (HEXADECIMAL.test(compact)) encodings.push('hex');
  if (BASE64.test(compact)) encodings.push('base64');
  for (const encoding of encodings) {
    const bytes = Buffer.from(encoding === 'hex' ? compact.replace(/^0x/i, '') : compact, encoding);
    const inner = printable(bytes);
    if (inner !== null) layers.push(inner);
    else if (isPrivateKeyDer(bytes)) layers.push({ kind: 'private key' });
  }
  return layers;
}

function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

function printable(bytes: Buffer): string | null {
  try {
    const text = UTF8.decode(bytes);
    return /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text) ? null : text;
  } catch {
    // Not text: what base64 and hexadecimal carry most of the time.
    return null;
  }
}

/**
 * A DER sequence that begins as a private key does: version, then AlgorithmIdentifier (PKCS #8, RFC 5958), modulus
 * (PKCS #1, RFC 8017) or the key itself (SEC 1, RFC 5915). Signatures, certificates and public keys begin otherwise.
 */
function isPrivateKeyDer(bytes: Buffer): boolean {
  if (bytes[0] !== 0x30) return false;
  const first = bytes[1] ?? 0;
  const start = first < 0x80 ? 2 : 2 + (first & 0x7f);
  const [tag, length, version, next] = bytes.subarray(start, start + 4);
  if (tag !== 0x02 || length !== 0x01) return false;
  return (version === 0 && (next === 0x30 || next === 0x02)) || (version === 1 && (next === 0x30 || next === 0x04));
}
