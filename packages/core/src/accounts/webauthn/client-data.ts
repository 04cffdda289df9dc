// The client data of a ceremony (WebAuthn Level 3, section 5.8.1), read so that no two readers can disagree about it.

import { hasRepeatedNames, readJson } from '../../key-material/json-members.ts';
import type { CeremonyFault } from './ceremony-fault.ts';

export interface ExpectedClientData {
  readonly type: 'webauthn.create' | 'webauthn.get';
  readonly challenge: Buffer;
  /** Exact origin of the shell. */
  readonly origin: string;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes of base64url without padding in its only canonical spelling, else `null` (RFC 4648, section 3.5). */
export function base64urlBytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/**
 * Steps 7 to 11 of section 7.1 and 11 to 14 of section 7.2: type, challenge, exact origin; ceremonies in foreign
 * frames are refused. Every other member is ignored, in both ceremonies alike: `tokenBinding`, which Level 3 no longer has,
 * and whatever a later level adds; so what registers can sign in. The library takes the last of repeated members, ignores invalid UTF-8 and, at registration,
 * `crossOrigin`, hence this check before it.
 */
export function checkClientData(clientDataJSON: string, expected: ExpectedClientData): CeremonyFault | null {
  const bytes = base64urlBytes(clientDataJSON);
  if (bytes === null) return 'client-data-malformed';
  const data = parse(bytes);
  if (data === null) return 'client-data-malformed';
  if (data.type !== expected.type) return 'type-differs';
  if (data.challenge !== expected.challenge.toString('base64url')) return 'challenge-differs';
  if (data.origin !== expected.origin) return 'origin-differs';
  if ((data.crossOrigin ?? false) !== false || (data.topOrigin ?? null) !== null) return 'cross-origin';
  return null;
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return null;
  }
  const node = readJson(text);
  if (node?.kind !== 'object' || hasRepeatedNames(node)) return null;
  return JSON.parse(text);
}
