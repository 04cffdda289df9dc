// The placement domain: which node runs what. Its hooks lock the assignment revision that nodes follow, so it comes
// last of the domains: no reader sees a later revision before an earlier change.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { assignmentsChanged } from './assignments.ts';
import type { Followers } from './followers.ts';
import { deletePortsWithoutVolume, deleteUndeclaredPorts } from './port-queries.ts';
import { deleteEndedStates, deleteWorkloadState, isAnyPlaced } from './queries.ts';
import { type PlacementRoute, placementRoutes } from './routes.ts';

export function placementDomain(context: CoreContext, followers: Followers): Domain<PlacementRoute> {
  return {
    handlers: placementRoutes(context, followers),
    async accountPaused(trx) {
      await assignmentsChanged(trx);
    },
    async accountResumed(trx) {
      await assignmentsChanged(trx);
    },
    async planChanged(trx) {
      await assignmentsChanged(trx);
    },
    async upgraded(trx, ids) {
      await deleteEndedStates(trx, ids);
      await deleteUndeclaredPorts(trx, ids);
      if (await isAnyPlaced(trx, ids)) await assignmentsChanged(trx);
    },
    async installationEnded(trx, id) {
      await deleteWorkloadState(trx, id);
      await deletePortsWithoutVolume(trx, id);
      if (await isAnyPlaced(trx, [id])) await assignmentsChanged(trx);
    },
  };
}
