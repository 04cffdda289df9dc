// Credentials of nodes (`pnd_…`): an hour each, renewed by a proof with the node's key. The former one ends at once, so
// that a stolen one is worth nothing after the next renewal.
import { credentialProofText, limits, type NodeCredential, refuse } from '@platform/contract';
import { readPublicKey, verifyText } from '@platform/link';
import type { Kysely } from 'kysely';
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { type IssuedCredential, insertChallenge, setCredential, takeChallenge } from './node-queries.ts';

export interface FreshCredential extends IssuedCredential {
  /** In plain text, for the node only. */
  readonly nodeCredential: string;
}

export function freshCredential({ clock, random }: Pick<CoreContext, 'clock' | 'random'>): FreshCredential {
  const nodeCredential = newCredential('node', random);
  const expiresAt = new Date(clock().getTime() + limits.nodeCredentialSeconds.value * 1_000);
  return { nodeCredential, hash: hashCredential(nodeCredential), expiresAt };
}

/** Gives a node this credential instead of its former one, on every replica. */
export async function replaceCredential(
  trx: Kysely<DatabaseSchema>,
  nodeId: string,
  credential: IssuedCredential,
): Promise<void> {
  await setCredential(trx, nodeId, credential);
  await notify(trx, 'node-credential-replaced', { nodeId });
}

/** A nonce for the node of this key; a key that is none gets one as well, which proves nothing. */
export async function challengeNode(context: CoreContext, publicKey: string): Promise<string> {
  const key = readKey(publicKey);
  const nonce = context.random(32).toString('base64url');
  const now = context.clock();
  const expiresAt = new Date(now.getTime() + limits.nodeChallengeSeconds.value * 1_000);
  await insertChallenge(context.database, { hash: hashCredential(nonce), publicKey: key, expiresAt, now });
  return nonce;
}

/** @throws RefusalError `unauthenticated` for every proof that is none, without saying what is wrong with it */
export async function renewCredential(
  context: CoreContext,
  proof: { readonly publicKey: string; readonly nonce: string; readonly signature: string },
): Promise<NodeCredential> {
  const publicKey = readKey(proof.publicKey);
  const hash = hashCredential(proof.nonce);
  const credential = freshCredential(context);
  const nodeId = await context.database.transaction().execute(async (trx) => {
    const id = await takeChallenge(trx, { hash, publicKey, now: context.clock() });
    if (id === undefined) return undefined;
    const text = credentialProofText(new URL(context.config.origin).host, proof.nonce);
    // The nonce stays used up when the signature is wrong.
    if (!verifyText(publicKey, text, proof.signature)) return undefined;
    await replaceCredential(trx, id, credential);
    return id;
  });
  if (nodeId === undefined) throw refuse('unauthenticated', 'This is no proof of a node of this platform.');
  await context.signals.settled(context.pool);
  return wireCredential(nodeId, credential);
}

export function wireCredential(nodeId: string, { nodeCredential, expiresAt }: FreshCredential): NodeCredential {
  return { nodeId, nodeCredential, expiresAt: expiresAt.toISOString() };
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
