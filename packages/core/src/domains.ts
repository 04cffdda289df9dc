// The domains of core, one line each. What a domain adds to the platform is in its own folder, behind domain.ts.
import { TOPOLOGY_BEAT_MILLISECONDS } from '@platform/contract';
import { accountDomain } from './accounts/domain.ts';
import { catalogDomain } from './catalog/domain.ts';
import { keepOfStart } from './clients/capabilities.ts';
import { clientDomain } from './clients/domain.ts';
import { defaultRates, type Rates } from './config/rates.ts';
import type { CoreContext } from './context.ts';
import { diskDomain } from './disk/domain.ts';
import type { Domain } from './domain.ts';
import { exportDomain } from './export/domain.ts';
import { fleetDomain } from './fleet/domain.ts';
import { homeDomain } from './home/domain.ts';
import { healthRoutes } from './http/health.ts';
import { idleBuckets } from './http/idle-buckets.ts';
import { ingressDomain } from './ingress/domain.ts';
import { installationDomain } from './installations/domain.ts';
import { intelligenceDomain } from './intelligence/domain.ts';
import { leaseDomain } from './leases/domain.ts';
import { Followers } from './members/followers.ts';
import { Backends } from './nodes/call-backend.ts';
import { nodeDomain } from './nodes/domain.ts';
import type { Nodes } from './nodes/nodes.ts';
import { notificationDomain } from './notifications/domain.ts';
import { EventHub } from './notifications/event-hub.ts';
import { objectStorageDomain } from './object-storage/domain.ts';
import { outboundDomain } from './outbound/domain.ts';
import { pauseDomain } from './pause/domain.ts';
import { placementDomain } from './placement/domain.ts';
import { type Pushing, pushDomain } from './push/domain.ts';
import type { DeliveryOptions } from './schedules/deliver-runs.ts';
import { scheduleDomain } from './schedules/domain.ts';
import { searchDomain } from './search/domain.ts';
import type { Searching } from './search/open-searching.ts';
import { postgresEngine } from './search/postgres-engine.ts';
import { secretDomain } from './secrets/domain.ts';
import { topologyDomain } from './topology/domain.ts';
import { workflowDomain } from './workflows/domain.ts';

/** What more than one domain uses, or what is opened before them. */
export interface SharedParts {
  readonly nodes: Nodes;
  readonly backends: Backends;
  readonly deliveryOptions: DeliveryOptions;
  readonly followers: Followers;
  /** Milliseconds between two signs of life of the topology stream. */
  readonly topologyBeat: number;
  readonly hub: EventHub;
  readonly searching: Searching;
  readonly pushing: Pushing | null;
  readonly rates: Rates;
  readonly monotonic: () => number;
}

/** In the order in which hooks run and workers start. Placement is last: see there. */
export function coreDomains(context: CoreContext, parts: SharedParts) {
  const { nodes, backends, deliveryOptions, followers, topologyBeat, hub, searching, pushing, rates, monotonic } =
    parts;
  const health: Domain<'health.read'> = { handlers: healthRoutes(context), workers: [idleBuckets(context, rates)] };
  return [
    health,
    accountDomain(context),
    exportDomain(context),
    catalogDomain(context),
    diskDomain(context),
    pauseDomain(context),
    installationDomain(context, { nodes, followers, hub }),
    homeDomain(context),
    clientDomain(context, followers),
    notificationDomain(context, hub),
    pushDomain(context, pushing),
    searchDomain(context, searching),
    fleetDomain(context),
    intelligenceDomain(context),
    leaseDomain(context),
    secretDomain(context, followers),
    outboundDomain(context, followers),
    workflowDomain(context),
    scheduleDomain(context, { backends, deliveryOptions }),
    nodeDomain(context, { nodes, monotonic }),
    objectStorageDomain(context),
    topologyDomain(context),
    ingressDomain(context, { followers, topologyBeat }),
    placementDomain(context, {
      followers,
      keepCapability: (trx, installationId, tokenHash) => keepOfStart(trx, context, { installationId, tokenHash }),
    }),
  ] as const;
}

/** For a process that serves nothing, such as a command: what it changes has the same consequences everywhere. */
export function followChanges(context: CoreContext, nodes: Nodes): void {
  const domains = coreDomains(context, {
    nodes,
    backends: new Backends(context, null),
    deliveryOptions: {},
    followers: new Followers(context),
    topologyBeat: TOPOLOGY_BEAT_MILLISECONDS,
    hub: new EventHub(context),
    searching: { engine: postgresEngine(context.pool), workers: [] },
    pushing: null,
    rates: defaultRates,
    monotonic: () => performance.now(),
  });
  context.lifecycle.follow(domains);
}
