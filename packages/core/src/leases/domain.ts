// Work leases as a part of core. They end with what they keep awake: a removed, stopped or paused backend holds none.
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
  };
}
