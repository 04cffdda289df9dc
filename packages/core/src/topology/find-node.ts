// Which node presents this credential (`pnd_…`). Its caller sees only what is placed on that node.
import type { CoreContext } from '../context.ts';
import type { NodeCaller } from '../http/caller.ts';
import { findNodeByCredential } from './queries.ts';

export async function findNodeCaller({ pool }: CoreContext, tokenHash: Buffer): Promise<NodeCaller | null> {
  const nodeId = await findNodeByCredential(pool, tokenHash);
  return nodeId === undefined ? null : { kind: 'node', nodeId };
}
