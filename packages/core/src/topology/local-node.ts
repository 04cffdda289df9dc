// The node on this machine: the one that starts and stops together with core.
import type { CoreContext } from '../context.ts';
import { hashCredential, newCredential } from '../credentials/credential.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import { upsertNode } from './queries.ts';

const NAME = 'local';

/**
 * Makes sure that this machine is a node and gives its Runtime a new credential; the one of the former start ends.
 *
 * @returns the credential in plain: the only place where it is, besides the Runtime that is given it
 */
export async function ensureLocalNode(context: CoreContext): Promise<{ nodeId: string; nodeCredential: string }> {
  const nodeCredential = newCredential('node', context.random);
  const nodeId = await context.database.transaction().execute(async (trx) => {
    const node = { id: newId('node', context), name: NAME, credentialHash: hashCredential(nodeCredential) };
    const id = await upsertNode(trx, node);
    await notify(trx, 'node-credential-replaced', { nodeId: id });
    return id;
  });
  return { nodeId, nodeCredential };
}
