// Credentials of nodes and Ingresses (`pnd_…`, `pin_…`): an hour each, renewed by a proof with the member's key. The former
// one ends at once, so that a stolen one is worth nothing after the next renewal.

import { credentialProofText, limits, type MemberKind, refuse } from '@platform/contract';
import { readPublicKey, verifyText } from '@platform/link';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import type { Executor } from '../database/schema.ts';

/** What the database holds of a credential. */
export interface IssuedCredential {
  readonly hash: Buffer;
  readonly expiresAt: Date;
}

export interface FreshCredential extends IssuedCredential {
  /** In plain text, for the member only. */
  readonly credential: string;
}

/** Where the challenges and credentials of one kind of members are. */
export interface CredentialStore {
  readonly kind: MemberKind;
  /** In a sentence, e.g. `a node`. */
  readonly words: string;
  /** No effect for a key that is no member's. */
  insertChallenge(
    db: Executor,
    challenge: {
      readonly hash: Buffer;
      readonly publicKey: Buffer;
      readonly expiresAt: Date;
      readonly proven: ProvenTime;
    },
  ): Promise<void>;
  /** Consumes it. Returns its member, or `undefined` when it is unknown, expired, or another key's. */
  takeChallenge(
    db: Executor,
    challenge: { readonly hash: Buffer; readonly publicKey: Buffer; readonly now: Date },
  ): Promise<string | undefined>;
  /** Gives a member this credential instead of its former one, and notifies every replica. */
  replaceCredential(trx: Executor, memberId: string, credential: IssuedCredential): Promise<void>;
}

export function freshCredential(
  { clock, random }: Pick<CoreContext, 'clock' | 'random'>,
  kind: MemberKind,
): FreshCredential {
  const credential = newCredential(kind, random);
  const expiresAt = new Date(clock().getTime() + limits.nodeCredentialSeconds.value * 1_000);
  return { credential, hash: hashCredential(credential), expiresAt };
}

/** A nonce for the member of this key; a key that is none gets one as well, which proves nothing. */
export async function challengeMember(
  context: CoreContext,
  store: CredentialStore,
  publicKey: string,
): Promise<string> {
  const key = readKey(publicKey);
  const nonce = context.random(32).toString('base64url');
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.nodeChallengeSeconds.value * 1_000);
  await store.insertChallenge(context.database, {
    hash: hashCredential(nonce),
    publicKey: key,
    expiresAt,
    proven: context.time.proven(),
  });
  return nonce;
}

/** @throws RefusalError `unauthenticated` for every proof that is none, without saying what is wrong with it */
export async function renewCredential(
  context: CoreContext,
  store: CredentialStore,
  proof: { readonly publicKey: string; readonly nonce: string; readonly signature: string },
): Promise<{ readonly id: string; readonly fresh: FreshCredential }> {
  const publicKey = readKey(proof.publicKey);
  const hash = hashCredential(proof.nonce);
  const fresh = freshCredential(context, store.kind);
  const id = await context.database.transaction().execute(async (trx) => {
    const member = await store.takeChallenge(trx, { hash, publicKey, now: context.clock() });
    if (member === undefined) return undefined;
    const text = credentialProofText(new URL(context.config.origin).host, proof.nonce, store.kind);
    // The nonce stays used up when the signature is wrong.
    if (!verifyText(publicKey, text, proof.signature)) return undefined;
    await store.replaceCredential(trx, member, fresh);
    return member;
  });
  if (id === undefined) throw refuse('unauthenticated', `This is no proof of ${store.words} of this platform.`);
  await context.signals.settled(context.pool);
  return { id, fresh };
}

/** @throws RefusalError `invalid_request` */
export function readKey(text: string): Buffer {
  const key = readPublicKey(text);
  if (key === null)
    throw refuse('invalid_request', 'The key is not an Ed25519 public key.', {
      errors: [
        { path: 'publicKey', message: 'must be a point of Ed25519 that is not of small order, 32 bytes as base64url' },
      ],
    });
  return key;
}
