// Where a push message may go, and whom it is encrypted for. All of it comes from a browser, so nothing is believed:
// https to publicly routable hosts, or to the origins that the operator named; keys that are what they claim.
import { ECDH } from 'node:crypto';
import { type FieldError, type RouteBody, refuse } from '@platform/contract';
import { isPublicHost } from '@platform/http';

/** A browser's push endpoint and keys. A capability: knowing it suffices to send to the browser. */
export interface PushAddress {
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/**
 * Names are resolved when a message is sent, not here: what they resolve to can change (send-message.ts).
 *
 * @throws RefusalError `invalid_request`, with what is wrong
 */
export function readPushAddress(
  { endpoint, keys }: RouteBody<'push.subscribe'>,
  privateOrigins: readonly string[],
): PushAddress {
  const problems: FieldError[] = [];
  const fault = endpointFault(endpoint, privateOrigins);
  if (fault !== null) problems.push({ path: 'endpoint', message: fault });
  if (!isPointOfP256(keys.p256dh)) problems.push({ path: 'keys.p256dh', message: 'must be a public key of P-256' });
  if (!isCanonical(keys.auth)) problems.push({ path: 'keys.auth', message: 'must be 16 bytes of base64url' });
  if (problems.length > 0) throw refuse('invalid_request', undefined, { errors: problems });
  return { endpoint, p256dh: keys.p256dh, auth: keys.auth };
}

function endpointFault(endpoint: string, privateOrigins: readonly string[]): string | null {
  if (!URL.canParse(endpoint)) return 'must be a URL';
  const url = new URL(endpoint);
  if (url.href !== endpoint) return 'must be a URL in its canonical form';
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password';
  if (url.hash !== '') return 'must not hold a fragment';
  if (privateOrigins.includes(url.origin)) return null;
  if (url.port !== '') return 'must be on port 443';
  if (!isPublicHost(url.hostname)) return 'must be on a publicly routable host';
  return null;
}

function isPointOfP256(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (!isCanonical(text) || bytes.length !== 65 || bytes[0] !== 0x04) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    // OpenSSL says no: it is not on the curve.
    return false;
  }
}

/** One spelling for one value: the last character's unused bits are zero. */
function isCanonical(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text;
}
