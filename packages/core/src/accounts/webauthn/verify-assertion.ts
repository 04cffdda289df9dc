// Verifies a sign-in (WebAuthn Level 3, section 7.2): the library's steps, and those it leaves to its caller.
import type { RouteBody } from '@platform/contract';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import { checkAuthenticatorData } from './authenticator-data.ts';
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

export type AssertionOutcome =
  | { readonly ok: true; readonly counter: number; readonly backedUp: boolean }
  | { readonly ok: false; readonly fault: CeremonyFault };

/** @param identified the account was known before: an authenticator may then leave out whose passkey it is */
export async function verifyAssertion(
  expected: ExpectedCeremony,
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
  if (state.backupEligible !== stored.backupEligible) return failed('backup-eligibility-changed');
  if (!counterAdvances(stored.counter, state.counter)) return failed('counter-not-greater');
  if (isEllipticKey(stored.publicKey) && !isStrictEcdsaSignature(signature)) return failed('signature-wrong');
  const libraryFault = await verifyByLibrary(expected, stored, credential);
  if (libraryFault !== null) return failed(libraryFault);
  return { ok: true, counter: state.counter, backedUp: state.backedUp };
}

function failed(fault: CeremonyFault): { ok: false; fault: CeremonyFault } {
  return { ok: false, fault };
}

/** Section 7.2, step 22. Zero on both sides: the authenticator does not count. The database checks it once more. */
function counterAdvances(stored: number, presented: number): boolean {
  return (stored === 0 && presented === 0) || presented > stored;
}

async function verifyByLibrary(
  { challenge, origin, rpId }: ExpectedCeremony,
  stored: StoredPasskey,
  { id, rawId, type, response }: AssertionCredential,
): Promise<CeremonyFault | null> {
  const { clientDataJSON, authenticatorData, signature } = response;
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      credential: { id: stored.id, publicKey: new Uint8Array(stored.publicKey), counter: stored.counter },
    });
    return verified === true ? null : 'signature-wrong';
  } catch {
    // The library refuses by throwing; its texts quote what the client sent, so none of them is passed on.
    return 'assertion-malformed';
  }
}
