// The work lease domain. Leases end with their backend: one that is removed, stopped or paused holds none.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { deleteLeases, deleteLeasesOfAccount } from './queries.ts';
import { type LeaseRoute, leaseRoutes } from './routes.ts';

export function leaseDomain(context: CoreContext): Domain<LeaseRoute> {
  return {
    handlers: leaseRoutes(context),
    accountPaused: deleteLeasesOfAccount,
    installationStopped: deleteLeases,
    installationEnded: deleteLeases,
    dataDeleted: deleteLeases,
  };
}
