// Where Ingresses reach nodes: the public sides that nodes register.
import type { registerNodeBody } from '@platform/contract';
import type * as z from 'zod';
import type { CoreContext } from '../context.ts';
import { seal, unseal } from '../credentials/master-key.ts';
import type { Executor } from '../database/schema.ts';
import { lockTopology, nodeAddress, raiseTopology, storeNodeAddress, withdrawNode } from './route-queries.ts';

export type PublicSide = NonNullable<z.output<typeof registerNodeBody>['publicSide']>;

/** Its credential is sealed for this, together with the id of the node. */
const PURPOSE = 'node-public';

interface RegisteringNode {
  readonly id: string;
  readonly name: string;
  readonly publicKey: Buffer | null;
}

/** Whether a node takes public requests. */
export async function servesPublic(db: Executor, nodeId: string): Promise<boolean> {
  return (await nodeAddress(db, nodeId)) !== undefined;
}

/**
 * Keeps the public side of a node that registers, and passes a change of it on to the Ingresses.
 *
 * @param side `undefined`: it serves no public requests
 */
export async function keepPublicSide(
  trx: Executor,
  context: CoreContext,
  node: RegisteringNode,
  side: PublicSide | undefined,
): Promise<void> {
  const { masterKey, random, clock } = context;
  await lockTopology(trx);
  const former = await nodeAddress(trx, node.id);
  if (side === undefined) {
    if (former === undefined) return;
    await withdrawNode(trx, node.id, clock());
    await raiseTopology(trx, node.id);
    return;
  }
  const key = side.url.startsWith('http:') ? null : node.publicKey;
  if (former !== undefined && former.url === side.url && sameKey(former.key, key)) {
    if (openCredential(context, node.id, former.credential) === side.credential) return;
  }
  const credential = seal(masterKey, PURPOSE, node.id, Buffer.from(side.credential, 'utf8'), random);
  const revision = await raiseTopology(trx);
  const { id: nodeId, name } = node;
  await storeNodeAddress(trx, { nodeId, name, url: side.url, key, credential, revision, now: clock() });
}

function sameKey(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}

export function openCredential({ masterKey }: Pick<CoreContext, 'masterKey'>, nodeId: string, sealed: Buffer): string {
  return unseal(masterKey, PURPOSE, nodeId, sealed).toString('utf8');
}
