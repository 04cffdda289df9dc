// Compares presented credentials without telling by the time it takes how much of one was right.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const BEARER = /^Bearer ([A-Za-z0-9._~+/-]{1,512}=*)$/i;

/**
 * The credential of exactly one well-formed Authorization header, else undefined.
 *
 * @param field that stands for it, in lower case
 */
export function bearerOf(req: IncomingMessage, field = 'authorization'): string | undefined {
  const values = req.headersDistinct[field] ?? [];
  const [value] = values;
  return values.length === 1 && value !== undefined ? BEARER.exec(value)?.[1] : undefined;
}

export function sameCredential(presented: string | undefined, expected: string): boolean {
  return matcherOf(expected)(presented);
}

/** The same for one that is expected more than once. */
export function matcherOf(expected: string): (presented: string | undefined) => boolean {
  const wanted = digest(expected);
  // Digests have one length, so that of the secret does not show either.
  return (presented) => timingSafeEqual(digest(presented ?? ''), wanted) && presented !== undefined;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
