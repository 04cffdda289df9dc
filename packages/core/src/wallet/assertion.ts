// The assertion of an approval: kept with the public key that it is checked with, and checked again by whoever has both.
import type { ApprovalAssertion, PasskeyConfirmation, WalletOperation } from '@platform/contract';
import { verifyAssertion } from '../accounts/face.ts';
import { canonicalHash, canonicalText } from './chain.ts';

/** Where passkeys of the platform are used: the origin of its shell, and its relying party. */
export interface Place {
  readonly origin: string;
  readonly rpId: string;
}

/** Whose passkey signs it: an address. */
export function signerOf(operation: WalletOperation): string {
  return operation.type === 'platform.wallet.payment.v1' ? operation.from : operation.account;
}

/** Without the user handle, which is the id of an account. */
export function assertionOf(
  { response: { userHandle: _, ...response }, ...credential }: PasskeyConfirmation['credential'],
  publicKey: Buffer,
  { origin, rpId }: Place,
): { readonly text: string; readonly hash: Buffer } {
  const assertion: ApprovalAssertion = {
    credential: { ...credential, response },
    publicKey: publicKey.toString('base64url'),
    origin,
    rpId,
  };
  return { text: canonicalText(assertion), hash: canonicalHash(assertion) };
}

/** The challenge that a credential signed. */
export function signedChallenge({ response }: PasskeyConfirmation['credential']): Buffer {
  const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'));
  return Buffer.from(String((data as { readonly challenge?: unknown }).challenge), 'base64url');
}

/** @param place of assertions that do not name where they were made. @returns what is wrong; `null` when it holds */
export async function checkApproval(
  { credential, publicKey, ...made }: ApprovalAssertion,
  operationHash: Buffer,
  place: Place,
): Promise<string | null> {
  const stored = {
    id: credential.id,
    accountKey: '',
    publicKey: Buffer.from(publicKey, 'base64url'),
    counter: 0,
    backupEligible: false,
  };
  const { origin = place.origin, rpId = place.rpId } = made;
  const expected = { challenge: operationHash, origin, rpId, allowsBackupChanges: true };
  const outcome = await verifyAssertion(expected, stored, credential, true);
  return outcome.ok ? null : `its assertion does not hold (${outcome.fault})`;
}
