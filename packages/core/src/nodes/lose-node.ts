// Declares a node lost that sent no heartbeat for too long: what can move is reassigned, what is bound to it is marked.
import type { CoreContext } from '../context.ts';
import { clearHeldBy, lockPlacement, markBoundWorkloads, takeFromLost } from '../placement/face.ts';
import { markLost } from './lost-queries.ts';

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

/** In one sentence for its owner: why an installation does not run although another node is there. */
export function boundToLost(nodeName: string): string {
  return `The machine ${nodeName} does not answer, and the data of this app lies there. The app runs again once the machine is back.`;
}
