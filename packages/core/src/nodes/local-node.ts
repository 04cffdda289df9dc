// The node on this machine: the Runtime that starts and stops together with this core. Its identity is a key in the data
// folder, so that every machine has its own, however many replicas of core share a database.
import { randomBytes } from 'node:crypto';
import { StartError } from '../config/start-error.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import type { Executor } from '../database/schema.ts';
import { freshCredential } from '../members/member-credentials.ts';
import { nodeMembers } from './node-member.ts';
import {
  adoptKeylessNode,
  findLocalNode,
  findNodeByKey,
  insertNode,
  leaveLocalNode,
  replaceKey,
  updateLeased,
} from './node-queries.ts';

/** What core is given of its machine as a node. */
export interface LocalNodeOptions {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  /** Shown to the operator; made different when another node has it. */
  readonly name: string;
  /** The data folder was there before nodes had keys: the node of that time is this one. */
  readonly inherits: boolean;
  /**
   * What to do where the database knows this machine under another key: refuse to start, take it for a new node, or give the
   * node this key. Default: take it for a new one.
   */
  readonly lostKey?: 'refuse' | 'new' | 'adopt';
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
    const own = known ?? (await underAnotherKey(trx, options));
    if (own !== undefined) {
      await updateLeased(trx, own, options.leased);
      await nodeMembers(context).replaceCredential(trx, own, credential);
      return own;
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

/**
 * The node that this machine was before its key was lost, which has this one from now on; `undefined` for a new node.
 *
 * @throws StartError `node_key_missing`
 */
async function underAnotherKey(
  trx: Executor,
  { name, publicKey, leased, lostKey = 'new' }: LocalNodeOptions,
): Promise<string | undefined> {
  if (lostKey === 'new') return undefined;
  // A database of its own has one machine with core, whatever its name is now.
  const former = await findLocalNode(trx, leased ? name : null);
  if (former === undefined) return undefined;
  if (lostKey === 'adopt') {
    await replaceKey(trx, former.id, publicKey);
    return former.id;
  }
  throw new StartError(
    'node_key_missing',
    `The database knows this machine as the node ${former.name}, whose key is not in the data folder. Restore node/node.key from a backup. If the key is lost and the volumes are here, give the node a new key: ./platform start --adopt. To run as a new node without them: ./platform start --new`,
  );
}

/** Core runs without a Runtime on this machine: what it ran before is taken for lost in time. */
export async function withoutLocalNode({ database }: CoreContext, publicKey: Buffer): Promise<void> {
  await leaveLocalNode(database, publicKey);
}
