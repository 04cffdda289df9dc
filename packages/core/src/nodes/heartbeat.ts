// The lease of a node. The node counts it from sending the heartbeat, core from seeing the count increase, each with a
// monotonic clock: the node's lease ends first, by more time than a workload takes to stop.
import { type NodeHeartbeat, type NodeLease, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { assignmentsChanged } from '../placement/face.ts';
import { countHeartbeat } from './node-queries.ts';
import { takeReport } from './traffic.ts';

/** A node stops what it must within this, and the clocks of two machines do not drift apart by more in one lease. */
export const LEASE_MARGIN_MILLISECONDS = 15_000;
const SLOWEST_HEARTBEAT_MILLISECONDS = 10_000;

export function leaseOf(nodeLostMilliseconds: number): { leaseMilliseconds: number; heartbeatMilliseconds: number } {
  const leaseMilliseconds = nodeLostMilliseconds - LEASE_MARGIN_MILLISECONDS;
  const heartbeatMilliseconds = Math.min(Math.floor(leaseMilliseconds / 4), SLOWEST_HEARTBEAT_MILLISECONDS);
  return { leaseMilliseconds, heartbeatMilliseconds };
}

/** @throws RefusalError `unauthenticated` for a node that was removed a moment ago */
export async function takeHeartbeat(context: CoreContext, nodeId: string, report: NodeHeartbeat): Promise<NodeLease> {
  const lostAfterMilliseconds = context.config.nodeLostMilliseconds;
  const { leaseMilliseconds, heartbeatMilliseconds } = leaseOf(lostAfterMilliseconds);
  const counted = await context.database.transaction().execute(async (trx) => {
    const heartbeat = await countHeartbeat(trx, nodeId, {
      now: context.clock(),
      lostAfterMilliseconds,
      diskFull: report.diskFull === true,
    });
    if (heartbeat !== undefined)
      await takeReport(trx, nodeId, { report, now: context.clock(), proven: context.time.proven() });
    if (heartbeat?.returned === true) await assignmentsChanged(trx, null);
    return heartbeat;
  });
  if (counted === undefined) throw refuse('unauthenticated', 'This node was removed.');
  if (counted.returned) context.log.info({ nodeId }, 'a lost node is back');
  return { leaseMilliseconds: counted.leased ? leaseMilliseconds : null, heartbeatMilliseconds };
}
