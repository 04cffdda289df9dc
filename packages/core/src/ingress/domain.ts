// The domain of Ingresses: how they join, the topology that they follow, and what they report.

import { TOPOLOGY_BEAT_MILLISECONDS } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { deleteSilentFollowers } from '../members/follower-queries.ts';
import { ingressCaller } from './ingress-caller.ts';
import { deleteRequests } from './report-queries.ts';
import { forgetRequests } from './report-traffic.ts';
import { type IngressRoute, ingressRoutes } from './routes.ts';

/** A follower that was silent for so long is gone. */
const GONE_MILLISECONDS = 86_400_000;

export function ingressDomain(
  context: CoreContext,
  { topologyBeat = TOPOLOGY_BEAT_MILLISECONDS }: { readonly topologyBeat?: number },
): Domain<IngressRoute, 'ingress'> {
  const open = new Set<object>();
  const forgetting = new PeriodicTask(context, {
    name: 'forget-public-requests',
    everyMilliseconds: 3_600_000,
    piece: (proven) => forget(context, proven),
  });
  return {
    handlers: ingressRoutes(context, { topologyBeat, open }),
    callers: { ingress: ingressCaller(context) },
    workers: [forgetting],
    gauges: [{ name: 'platform_core_topology_streams', read: () => open.size }],
    async installationEnded(trx, id) {
      // The next life of the installation has another address.
      await deleteRequests(trx, id);
    },
  };
}

/** @returns whether there may be more */
async function forget(context: CoreContext, proven: ProvenTime): Promise<boolean> {
  await deleteSilentFollowers(context.database, { silentMilliseconds: GONE_MILLISECONDS, proven });
  return forgetRequests(context, proven);
}
