// What nodes and Ingresses have in common: they join with an operator's token, and prove with a key of their own who they
// are. Not a public interface; versioned with the platform.
import * as z from 'zod';

/** What can join a platform. */
export type MemberKind = 'node' | 'ingress';

/** Ed25519 public key, 32 bytes, base64url. */
const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 32 bytes in base64url');
/** Ed25519 signature, 64 bytes, base64url. */
const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'must be 64 bytes in base64url');

export const memberName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/, 'must be lower-case letters, digits, single hyphens and dots');

/** Bytes of a body that anybody may send. */
export const ANONYMOUS_BYTES = 4 * 1024;

export const joinMemberBody = z.strictObject({
  /** `pne_…` or `pie_…`: the secret of an enrolment token of this kind. */
  token: z.string().max(100),
  publicKey,
  name: memberName,
  /** Over {@link joinProofText}. */
  signature,
});

export const challengeMemberBody = z.strictObject({ publicKey });
export const memberChallenge = z.strictObject({ nonce: z.string() });
export type MemberChallenge = z.infer<typeof memberChallenge>;
export const proveMemberBody = z.strictObject({
  publicKey,
  nonce: z.string().max(100),
  /** Over {@link credentialProofText}. */
  signature,
});

/** What a member signs to join; names core, so that the signature is worth nothing elsewhere, and what it joins as. */
export function joinProofText(coreHost: string, token: string, kind: MemberKind = 'node'): string {
  return `platform ${kind} join v1\n${coreHost}\n${token}`;
}

/** What a member signs for its next credential. */
export function credentialProofText(coreHost: string, nonce: string, kind: MemberKind = 'node'): string {
  return `platform ${kind} credential v1\n${coreHost}\n${nonce}`;
}
