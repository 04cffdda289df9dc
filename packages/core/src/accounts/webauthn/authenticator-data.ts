// The fixed part of authenticator data (WebAuthn Level 3, section 6.1) and what the platform demands of it.
import { createHash } from 'node:crypto';
import type { CeremonyFault } from './ceremony-fault.ts';

export interface AuthenticatorState {
  readonly counter: number;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

const FLAG = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10 };
const FIXED_PART = 37;

/** Relying party, user presence, user verification and consistent backup flags; the rest is the library's. */
export function checkAuthenticatorData(bytes: Uint8Array, rpId: string): CeremonyFault | AuthenticatorState {
  if (bytes.length < FIXED_PART) return 'authenticator-data-malformed';
  const data = Buffer.from(bytes);
  const rpIdHash = createHash('sha256').update(rpId).digest();
  if (!data.subarray(0, 32).equals(rpIdHash)) return 'rp-id-differs';
  const flags = data.readUInt8(32);
  if ((flags & FLAG.userPresent) === 0) return 'user-not-present';
  if ((flags & FLAG.userVerified) === 0) return 'user-not-verified';
  const backupEligible = (flags & FLAG.backupEligible) !== 0;
  const backedUp = (flags & FLAG.backedUp) !== 0;
  if (backedUp && !backupEligible) return 'backup-flags-contradict';
  return { counter: data.readUInt32BE(33), backupEligible, backedUp };
}
