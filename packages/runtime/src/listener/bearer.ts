// Compares presented credentials without telling by the time it takes how much of one was right.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const BEARER = /^Bearer ([A-Za-z0-9._~+/-]{1,512}=*)$/i;

/** The credential of exactly one well-formed Authorization header, else undefined. */
export function bearerOf(req: IncomingMessage): string | undefined {
  const values = req.headersDistinct.authorization ?? [];
  const [value] = values;
  return values.length === 1 && value !== undefined ? BEARER.exec(value)?.[1] : undefined;
}

export function sameCredential(presented: string | undefined, expected: string): boolean {
  // Digests have one length, so that of the secret does not show either.
  return timingSafeEqual(digest(presented ?? ''), digest(expected)) && presented !== undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
