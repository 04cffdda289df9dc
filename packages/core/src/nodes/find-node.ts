// Finds the node that a credential (`pnd_…`) belongs to. The caller sees only what is placed on that node.
import type { CoreContext } from '../context.ts';
import type { NodeCaller } from '../http/caller.ts';
import { findNodeByCredential } from './node-queries.ts';

export async function findNodeCaller({ pool }: CoreContext, tokenHash: Buffer): Promise<NodeCaller | null> {
  const found = await findNodeByCredential(pool, tokenHash);
  return found === undefined
    ? null
    : {
        kind: 'node',
        nodeId: found.id,
        publicKey: found.public_key,
        credentialHash: tokenHash,
        expiresAt: found.credential_expires_at,
      };
}
