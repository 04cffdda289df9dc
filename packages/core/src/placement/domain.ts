// The placement domain: which node runs what. Its hooks lock the assignment revision that nodes follow, so it comes
// last of the domains: no reader sees a later revision before an earlier change.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { routesChanged } from '../topology/face.ts';
import { announceSettings } from './announce-settings.ts';
import { assignmentsChanged, assignmentsRevoked } from './change-assignments.ts';
import { ensureTopology } from './ensure-topology.ts';
import { networkPolicy } from './policy.ts';
import { deletePortsWithoutVolume, deleteUndeclaredPorts } from './port-queries.ts';
import { deleteEndedStates, deleteWorkloadState, isAnyPlaced, nodeOf, nodesInUse, nodesOfAccount } from './queries.ts';
import { type PlacementRoute, placementRoutes } from './routes.ts';

export function placementDomain(context: CoreContext): Domain<PlacementRoute> {
  return {
    handlers: placementRoutes(context),
    policy: networkPolicy,
    async starting() {
      await ensureTopology(context);
      await announceSettings(context);
    },
    reloaded: () => announceSettings(context),
    accountPaused: (trx, accountKey) =>
      assignmentsRevoked(context, trx, {
        nodes: () => nodesOfAccount(trx, accountKey),
        touched: { context, accountKey },
      }),
    accountResumed: (trx, accountKey) => assignmentsChanged(trx, { context, accountKey }),
    planChanged: (trx) => assignmentsChanged(trx, null),
    settingsChanged: (trx) => assignmentsRevoked(context, trx, { nodes: () => nodesInUse(trx), touched: null }),
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
    async installationEnded(trx, id) {
      await deleteWorkloadState(trx, id);
      await deletePortsWithoutVolume(trx, id);
      const nodeId = await nodeOf(trx, id);
      const touched = { context, installations: [id] };
      if (nodeId === null) await routesChanged(trx, touched);
      else await assignmentsRevoked(context, trx, { nodes: [nodeId], touched });
    },
  };
}
