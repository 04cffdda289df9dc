// Checks the Bearer credential that a workload presents, without telling by timing how much of it was right.
import { timingSafeEqual } from 'node:crypto';

export type CredentialCheck = (authorization: string | null) => boolean;

const SCHEME = 'bearer ';

/**
 * Makes the check for one credential (RFC 6750 section 2.1, with one space). The comparison takes the same time
 * wherever the values differ; only the length, which the format makes public, can show.
 */
export function bearerCheck(credential: string): CredentialCheck {
  const expected = Buffer.from(credential, 'latin1');
  const presented = Buffer.alloc(expected.length);
  const length = SCHEME.length + expected.length;
  return (authorization) => {
    if (authorization === null || authorization.length !== length) return false;
    if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return false;
    presented.write(authorization.slice(SCHEME.length), 'latin1');
    return timingSafeEqual(presented, expected);
  };
}
