// The node on this machine: the Runtime that starts and stops together with this core. Its identity is a key in the data
// folder, so that every machine has its own, however many replicas of core share a database.
import { randomBytes } from 'node:crypto';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { freshCredential } from '../members/member-credentials.ts';
import { nodeMembers } from './node-member.ts';
import { adoptKeylessNode, findNodeByKey, insertNode, leaveLocalNode, updateLeased } from './node-queries.ts';

/** What core is given of its machine as a node. */
export interface LocalNodeOptions {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** Shown to the operator; made different when another node has it. */
  readonly name: string;
  /** The data folder was there before nodes had keys: the node of that time is this one. */
  readonly inherits: boolean;
  /** Other replicas of core may take this node for lost. */
  readonly leased: boolean;
}

/** What the Runtime on this machine presents to core, new at every start. */
export interface LocalNode {
  readonly nodeId: string;
  /** In plain: the only place where it is, besides the Runtime that is given it. */
  readonly nodeCredential: string;
  readonly expiresAt: Date;
}

/** Makes sure that this machine is a node and gives its Runtime a new credential; the one of the former start ends. */
export async function ensureLocalNode(context: CoreContext, options: LocalNodeOptions): Promise<LocalNode> {
  const credential = freshCredential(context, 'node');
  const nodeId = await context.database.transaction().execute(async (trx) => {
    const known =
      (await findNodeByKey(trx, options.publicKey)) ??
      (options.inherits ? await adoptKeylessNode(trx, options.publicKey) : undefined);
    if (known !== undefined) {
      await updateLeased(trx, known, options.leased);
      await nodeMembers(context).replaceCredential(trx, known, credential);
      return known;
    }
    const id = newId('node', context);
    const node = {
      id,
      publicKey: options.publicKey,
      labels: ['platform-hosted'],
      local: true,
      leased: options.leased,
      credential,
      now: context.clock(),
    };
    const names = [options.name, `${options.name}-${randomBytes(3).toString('hex')}`];
    for (const name of names) if (await insertNode(trx, { ...node, name })) return id;
    throw new Error(`no name is left for the node ${options.name}`);
  });
  return { nodeId, nodeCredential: credential.credential, expiresAt: credential.expiresAt };
}

/** Core runs without a Runtime on this machine: what it ran before is taken for lost in time. */
export async function withoutLocalNode({ database }: CoreContext, publicKey: Buffer): Promise<void> {
  await leaveLocalNode(database, publicKey);
}
