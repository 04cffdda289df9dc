// Verifies a sign-in (WebAuthn Level 3, section 7.2). The library reads the authenticator data and verifies the signature; its
// whole step for sign-ins judges members of the client data otherwise than that for registrations does.
import { createHash } from 'node:crypto';
import type { RouteBody } from '@platform/contract';
import { parseAuthenticatorData, verifySignature } from '@simplewebauthn/server/helpers';
import { type AuthenticatorState, checkAuthenticatorData } from './authenticator-data.ts';
import type { CeremonyFault } from './ceremony-fault.ts';
import { base64urlBytes, checkClientData } from './client-data.ts';
import { isEllipticKey, isStrictEcdsaSignature } from './public-key.ts';
import type { ExpectedCeremony } from './verify-registration.ts';

export type AssertionCredential = RouteBody<'auth.login.verify'>['credential'];

/** The passkey as stored, found by the id that the client sent. */
export interface StoredPasskey {
  readonly id: string;
  readonly accountKey: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly backupEligible: boolean;
}

/** What the authenticator said of the passkey. */
export type PasskeyUse = Pick<AuthenticatorState, 'counter' | 'backedUp'> &
  // Where it is another than before.
  Partial<Pick<AuthenticatorState, 'backupEligible'>>;

export type AssertionOutcome =
  | ({ readonly ok: true } & PasskeyUse)
  | { readonly ok: false; readonly fault: CeremonyFault };

export interface ExpectedAssertion extends ExpectedCeremony {
  /** Whether a passkey may say of itself another backup eligibility than before, as after a move to another manager. Default: no. */
  readonly allowsBackupChanges?: boolean;
}

/** @param identified the account was known before: an authenticator may then leave out whose passkey it is */
export async function verifyAssertion(
  expected: ExpectedAssertion,
  stored: StoredPasskey,
  credential: AssertionCredential,
  identified = false,
): Promise<AssertionOutcome> {
  const { id, rawId, response } = credential;
  if (id !== stored.id || rawId !== id) return failed('credential-id-differs');
  const { challenge, origin, rpId } = expected;
  const clientFault = checkClientData(response.clientDataJSON, { type: 'webauthn.get', challenge, origin });
  if (clientFault !== null) return failed(clientFault);
  // Where no account was named, the authenticator must name it: the user handle of a discoverable passkey is the account
  // key (section 7.2, step 6).
  const named = response.userHandle ?? null;
  if (!(identified && named === null) && named !== Buffer.from(stored.accountKey).toString('base64url'))
    return failed('user-handle-differs');
  const data = base64urlBytes(response.authenticatorData);
  const signature = base64urlBytes(response.signature);
  if (data === null) return failed('authenticator-data-malformed');
  if (signature === null) return failed('signature-wrong');
  const state = checkAuthenticatorData(data, rpId);
  if (typeof state === 'string') return failed(state);
  const { counter, backedUp, backupEligible } = state;
  const hasChanged = backupEligible !== stored.backupEligible;
  if (hasChanged && expected.allowsBackupChanges !== true) return failed('backup-eligibility-changed');
  if (!counterAdvances(stored.counter, counter)) return failed('counter-not-greater');
  if (isEllipticKey(stored.publicKey) && !isStrictEcdsaSignature(signature)) return failed('signature-wrong');
  const signed = Buffer.concat([data, createHash('sha256').update(response.clientDataJSON, 'base64url').digest()]);
  const fault = await verifyByLibrary(stored, { data, signed, signature });
  if (fault !== null) return failed(fault);
  return { ok: true, counter, backedUp, ...(hasChanged ? { backupEligible } : {}) };
}

function failed(fault: CeremonyFault): { ok: false; fault: CeremonyFault } {
  return { ok: false, fault };
}

/** Section 7.2, step 22. Zero on both sides: the authenticator does not count. The database checks it once more. */
function counterAdvances(stored: number, presented: number): boolean {
  return (stored === 0 && presented === 0) || presented > stored;
}

async function verifyByLibrary(
  stored: StoredPasskey,
  { data, signed, signature }: Readonly<Record<'data' | 'signed' | 'signature', Buffer>>,
): Promise<CeremonyFault | null> {
  try {
    // Throws for extensions that are malformed, and for bytes after them.
    parseAuthenticatorData(new Uint8Array(data));
    const isSigned = await verifySignature({
      signature: new Uint8Array(signature),
      data: new Uint8Array(signed),
      credentialPublicKey: new Uint8Array(stored.publicKey),
    });
    return isSigned ? null : 'signature-wrong';
  } catch {
    // The library refuses by throwing; its texts quote what the client sent, so none of them is passed on.
    return 'assertion-malformed';
  }
}
