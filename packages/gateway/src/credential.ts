// Checks the credential that a workload presents, without telling by timing how much of it was right.
import { timingSafeEqual } from 'node:crypto';
import type { RequestHead } from '@platform/http';

export type CredentialCheck = (presented: string | null) => boolean;

const SCHEME = 'bearer ';

/** The Bearer credential of a request (RFC 6750 section 2.1, with one space); `null` for none or more than one. */
export function bearerOf({ authorization }: RequestHead): string | null {
  if (authorization === null || authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return null;
  return authorization.slice(SCHEME.length);
}

/**
 * Makes the check for one credential. The comparison takes the same time wherever the values differ; only the length,
 * which the format makes public, can show.
 */
export function credentialCheck(credential: string): CredentialCheck {
  const expected = Buffer.from(credential, 'latin1');
  const buffer = Buffer.alloc(expected.length);
  return (presented) => {
    if (presented === null || presented.length !== expected.length) return false;
    buffer.write(presented, 'latin1');
    return timingSafeEqual(buffer, expected);
  };
}
