// The domains of core, one line each. What a domain adds to the platform is in its own folder, behind domain.ts.
import { accountDomain } from './accounts/domain.ts';
import { type CatalogOptions, catalogDomain } from './catalog/domain.ts';
import { clientDomain } from './clients/domain.ts';
import { connectionDomain } from './connections/domain.ts';
import { contactDomain } from './contacts/domain.ts';
import { contentDomain } from './content/domain.ts';
import type { CoreContext } from './context.ts';
import { diskDomain } from './disk/domain.ts';
import type { Domain } from './domain.ts';
import { draftDomain } from './drafts/domain.ts';
import { type AppKit, NO_KIT } from './drafts/face.ts';
import { exportDomain } from './export/domain.ts';
import { fleetDomain } from './fleet/domain.ts';
import { homeDomain } from './home/domain.ts';
import { idleBuckets } from './http/rates/idle-buckets.ts';
import { healthRoutes } from './http/server/health.ts';
import { ingressDomain } from './ingress/domain.ts';
import { installationDomain } from './installations/domain.ts';
import { intelligenceDomain } from './intelligence/domain.ts';
import { leaseDomain } from './leases/domain.ts';
import { messagingDomain } from './messaging/domain.ts';
import { nodeDomain } from './nodes/domain.ts';
import { notificationDomain } from './notifications/domain.ts';
import { objectStorageDomain } from './object-storage/domain.ts';
import { offersDomain } from './offers/domain.ts';
import { outboundDomain } from './outbound/domain.ts';
import { pauseDomain } from './pause/domain.ts';
import { placementDomain } from './placement/domain.ts';
import { type Pushing, pushDomain } from './push/domain.ts';
import { recipientDomain } from './recipient/domain.ts';
import { scheduleDomain } from './schedules/domain.ts';
import type { DeliveryOptions } from './schedules/face.ts';
import { searchDomain } from './search/domain.ts';
import type { Searching } from './search/face.ts';
import { postgresEngine } from './search/face.ts';
import { secretDomain } from './secrets/domain.ts';
import type { MODEL_PLACES } from './settings/model-servers.ts';
import { toolDomain } from './tools/domain.ts';
import { topologyDomain } from './topology/domain.ts';
import { walletDomain } from './wallet/domain.ts';
import type { Rail } from './wallet/face.ts';
import { webSearchDomain } from './web-search/domain.ts';
import { workflowDomain } from './workflows/domain.ts';

/** How some domains work, and what is opened before them. */
export interface DomainOptions extends CatalogOptions {
  readonly searching: Searching;
  /** `null` where the operator did not set up web push. */
  readonly pushing: Pushing | null;
  /** Default: as documented. */
  readonly schedules?: DeliveryOptions;
  /** Milliseconds between two signs of life of the topology stream. Default: as documented. */
  readonly topologyBeat?: number;
  /** Where model servers are looked for. Default: where they listen by themselves. */
  readonly modelPlaces?: typeof MODEL_PLACES | undefined;
  /** Rails of the wallet besides the operator's credits; tests prove with one that others can be added. */
  readonly rails?: readonly Rail[] | undefined;
  /** What apps that apps make begin with, and what is added to them. Default: nothing. */
  readonly appKit?: AppKit | undefined;
  /** Milliseconds that only ever go forward. Default: `performance.now`. */
  readonly monotonic?: () => number;
}

/** In the order in which domains start, hooks run and workers start. Placement is last: see there. */
export function coreDomains(context: CoreContext, options: DomainOptions) {
  const health: Domain<'health.read'> = {
    handlers: healthRoutes(context),
    workers: [idleBuckets(context, context.rates)],
  };
  return [
    health,
    accountDomain(context),
    recipientDomain(context),
    exportDomain(context),
    catalogDomain(context, options),
    diskDomain(context),
    pauseDomain(context),
    installationDomain(context),
    homeDomain(context),
    draftDomain(context, options.appKit ?? NO_KIT),
    clientDomain(context),
    notificationDomain(context),
    pushDomain(context, options.pushing),
    searchDomain(context, options.searching),
    fleetDomain(context, options.modelPlaces),
    intelligenceDomain(context),
    leaseDomain(context),
    secretDomain(context),
    outboundDomain(context),
    workflowDomain(context),
    scheduleDomain(context, options.schedules),
    messagingDomain(context),
    contactDomain(context),
    toolDomain(context),
    walletDomain(context, options.rails),
    webSearchDomain(context),
    contentDomain(context),
    connectionDomain(context),
    nodeDomain(context, options),
    objectStorageDomain(context),
    offersDomain(context),
    topologyDomain(context),
    ingressDomain(context, options),
    placementDomain(context),
  ] as const;
}

/** For a process that serves nothing, such as a command: what it changes has the same consequences everywhere. */
export function followChanges(context: CoreContext): void {
  const searching = { engine: postgresEngine(context.pool), workers: [] };
  const domains = coreDomains(context, { systemPackages: [], searching, pushing: null });
  context.lifecycle.follow(domains);
  context.policies.follow(domains);
}
