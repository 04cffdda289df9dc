// A node that is gone: one that sent no heartbeat for too long, or that stopped and said so. What can move is reassigned, what is
// bound to it is marked.
import type { CoreContext } from '../context.ts';
import { clearHeldBy, lockPlacement, markBoundWorkloads, placeWaiting, takeFromLost } from '../placement/face.ts';
import { leavingNode, markLost } from './lost-queries.ts';

/**
 * Takes a node for lost whose heartbeats still are at `beat`. Nothing holds what it ran: its lease ended before.
 *
 * @returns how many installations wait for another node now, or `null` when a heartbeat arrived meanwhile
 */
export async function loseNode(
  context: CoreContext,
  node: { readonly id: string; readonly name: string; readonly beat: string },
): Promise<number | null> {
  const now = context.clock();
  const lost = await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    if (!(await markLost(trx, { ...node, now }))) return false;
    await clearHeldBy(trx, node.id);
    await markBoundWorkloads(trx, node.id, { reason: boundToLost(node.name), now });
    return true;
  });
  return lost ? takeFromLost(context, node.id) : null;
}

/**
 * Takes a node that stopped for lost at once: it returned its lease, after it had stopped all it ran. Where no other node could
 * take anything it stays as it is, and has until its lease would have ended to come back.
 */
export async function leaveNode(context: CoreContext, nodeId: string): Promise<void> {
  const node = await leavingNode(context.database, nodeId);
  if (node === undefined) return;
  const waiting = await loseNode(context, node);
  if (waiting === null) return;
  context.log.info({ node: node.name, waiting }, 'a node stopped; what can move goes to others');
  await placeWaiting(context);
}

/** In one sentence for its owner: why an installation does not run although another node is there. */
export function boundToLost(nodeName: string): string {
  return `The machine ${nodeName} does not answer, and the data of this app lies there. The app runs again once the machine is back.`;
}
