// The clients domain: what native clients and frontends reach backends with, and when it ends.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { assignmentsRevoked } from '../placement/face.ts';
import { keepOfStart } from './capabilities.ts';
import { deleteOfInstallation, deleteOfSessions } from './queries.ts';
import { type ClientRoute, clientRoutes } from './routes.ts';

export function clientDomain(context: CoreContext): Domain<ClientRoute> {
  return {
    handlers: clientRoutes(context),
    async sessionsEnded(trx, sessionIds) {
      await assignmentsRevoked(context, trx, { nodes: await deleteOfSessions(trx, sessionIds), touched: null });
    },
    async workloadStarted(trx, { installationId, capabilityHash }) {
      if (capabilityHash !== null) await keepOfStart(trx, context, { installationId, tokenHash: capabilityHash });
    },
    async installationEnded(trx, id) {
      // Its node loses the assignment with the same revision, and ends what is under way.
      await deleteOfInstallation(trx, id);
    },
  };
}
