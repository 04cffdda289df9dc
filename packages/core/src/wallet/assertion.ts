// The assertion of an approval: kept with the public key that it is checked with, and checked again by whoever has both.
import { type ApprovalAssertion, approvalAssertion, type PasskeyConfirmation } from '@platform/contract';
import { verifyAssertion } from '../accounts/face.ts';
import { canonicalHash, canonicalText } from './chain.ts';

/** Without the user handle, which is the id of an account. */
export function assertionOf(
  { response: { userHandle: _, ...response }, ...credential }: PasskeyConfirmation['credential'],
  publicKey: Buffer,
): { readonly text: string; readonly hash: Buffer } {
  const assertion: ApprovalAssertion = {
    credential: { ...credential, response },
    publicKey: publicKey.toString('base64url'),
  };
  return { text: canonicalText(assertion), hash: canonicalHash(assertion) };
}

/** The challenge that a credential signed. */
export function signedChallenge({ response }: PasskeyConfirmation['credential']): Buffer {
  const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'));
  return Buffer.from(String((data as { readonly challenge?: unknown }).challenge), 'base64url');
}

/** @param place where the platform is: the origin of its shell, and its relying party. @returns what is wrong; `null` when it holds */
export async function checkApproval(
  assertion: unknown,
  operationHash: Buffer,
  place: { readonly origin: string; readonly rpId: string },
): Promise<string | null> {
  const read = approvalAssertion.safeParse(assertion);
  if (!read.success) return 'its assertion is malformed';
  const { credential, publicKey } = read.data;
  const stored = {
    id: credential.id,
    accountKey: '',
    publicKey: Buffer.from(publicKey, 'base64url'),
    counter: 0,
    backupEligible: false,
  };
  const expected = { challenge: operationHash, ...place, allowsBackupChanges: true };
  const outcome = await verifyAssertion(expected, stored, credential, true);
  return outcome.ok ? null : `its assertion does not hold (${outcome.fault})`;
}
