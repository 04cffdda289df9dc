// The Runtime of a node, by its credential (`pnd_…`). It sees only what is placed on that node.
import type { CoreContext } from '../context.ts';
import type { CallerScheme } from '../http/callers/scheme.ts';
import { findNodeByCredential } from './node-queries.ts';

/** The Runtime of a node, by its credential (`pnd_…`). */
export interface NodeCaller {
  readonly kind: 'node';
  readonly nodeId: string;
  /** `null` for a node from before nodes had keys. */
  readonly publicKey: Buffer | null;
  /** SHA-256 of the credential that it presented. */
  readonly credentialHash: Buffer;
  readonly expiresAt: Date;
}

declare module '../http/caller.ts' {
  interface CallerKinds {
    node: NodeCaller;
  }
}

export function nodeCaller(context: CoreContext): CallerScheme<'node'> {
  return {
    kind: 'node',
    presented: {
      bearer: 'node',
      find: (tokenHash) => findNode(context, tokenHash),
      expired: 'The credential of this node has expired. It renews it with its key.',
    },
    subject: ({ nodeId }) => nodeId,
    from: 'programs',
    link: {
      keyOf: ({ publicKey }) => publicKey,
      otherKey: 'This credential belongs to another node than the key of this connection.',
    },
    changes: [{ signal: 'node-credential-replaced', about: 'nodeId', ends: true }],
  };
}

async function findNode({ pool }: CoreContext, tokenHash: Buffer): Promise<NodeCaller | null> {
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
