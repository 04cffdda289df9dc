// The placement domain: which node runs what. Its hooks lock the assignment revision that nodes follow, so it comes
// last of the domains: no reader sees a later revision before an earlier change.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { routesChanged } from '../topology/face.ts';
import { assignmentsChanged } from './assignments.ts';
import { ensureTopology } from './ensure-topology.ts';
import { deletePortsWithoutVolume, deleteUndeclaredPorts } from './port-queries.ts';
import { deleteEndedStates, deleteWorkloadState, isAnyPlaced, nodeOf, nodesOfAccount } from './queries.ts';
import { type PlacementRoute, placementRoutes } from './routes.ts';

export function placementDomain(context: CoreContext): Domain<PlacementRoute> {
  return {
    handlers: placementRoutes(context),
    starting: () => ensureTopology(context),
    async accountPaused(trx, accountKey, afterCommit) {
      const change = await assignmentsChanged(trx, { context, accountKey });
      if (change.topology === null) return;
      // Nothing of the internet reaches it any more when the answer is there.
      const nodeIds = await nodesOfAccount(trx, accountKey);
      afterCommit(() => context.followers.allCarriedOut({ nodeIds, ...change }));
    },
    async accountResumed(trx, accountKey) {
      await assignmentsChanged(trx, { context, accountKey });
    },
    async planChanged(trx) {
      await assignmentsChanged(trx, null);
    },
    async upgraded(trx, installations) {
      await deleteEndedStates(trx, installations);
      await deleteUndeclaredPorts(trx, installations);
      const touched = { context, installations };
      if (await isAnyPlaced(trx, installations)) await assignmentsChanged(trx, touched);
      else await routesChanged(trx, touched);
    },
    async dataDeleted(trx, id) {
      await deleteWorkloadState(trx, id);
      await assignmentsChanged(trx, null);
    },
    async installationEnded(trx, id, afterCommit) {
      await deleteWorkloadState(trx, id);
      await deletePortsWithoutVolume(trx, id);
      const nodeId = await nodeOf(trx, id);
      const touched = { context, installations: [id] };
      if (nodeId === null) {
        await routesChanged(trx, touched);
        return;
      }
      const change = await assignmentsChanged(trx, touched);
      if (change.topology !== null)
        afterCommit(() => context.followers.allCarriedOut({ nodeIds: [nodeId], ...change }));
    },
  };
}
