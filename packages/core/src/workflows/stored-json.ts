// Inputs and results as they are kept: compact JSON as it came, and a hash by which two of them are compared whatever the
// order of their members.
import { hash } from 'node:crypto';
import { type ErrorCode, refuse, sizeText } from '@platform/contract';
import canonicalize from 'canonicalize';

export interface StoredJson {
  /** Compact JSON. */
  readonly text: string;
  /** SHA-256 of the RFC 8785 form. */
  readonly hash: Buffer;
  /** Of `text` in UTF-8. */
  readonly bytes: number;
}

/**
 * @param value as JSON.parse made it
 * @throws RefusalError `code` for more than `most` bytes
 */
export function storedJson(
  value: unknown,
  { most, code, what }: { readonly most: number; readonly code: ErrorCode; readonly what: string },
): StoredJson {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > most)
    throw refuse(
      code,
      `${what} has ${sizeText(bytes, Math.ceil)} of compact JSON, and may have ${sizeText(most)}. Pass a reference instead.`,
    );
  // Only `undefined` has no canonical form, and no JSON is that.
  return { text, bytes, hash: hash('sha256', canonicalize(value) ?? 'null', 'buffer') };
}
