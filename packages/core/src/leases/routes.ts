// Work leases over HTTP: workloads make, renew and release them through their Gateway, nodes ask how long they last.
import { type DomainRoute, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { isPlaced } from '../placement/face.ts';
import { createLease, leasesEndIn, releaseLease, renewLease } from './work-leases.ts';

export type LeaseRoute = DomainRoute<'leases'>;

export function leaseRoutes(context: CoreContext): HandlersOf<LeaseRoute> {
  return {
    'services.workLeases.create': async ({ caller, body }) => ({
      status: 201,
      body: { lease: await createLease(context, caller.installationId, body) },
    }),
    'services.workLeases.renew': async ({ caller, params, body }) => ({
      status: 200,
      body: { lease: await renewLease(context, caller.installationId, params.id, body?.durationSeconds) },
    }),
    'services.workLeases.release': async ({ caller, params }) => {
      await releaseLease(context, caller.installationId, params.id);
      return { status: 204 };
    },
    'node.leases': async ({ caller, params }) => {
      if (!(await isPlaced(context.database, caller.nodeId, params.id))) throw refuse('not_found');
      return { status: 200, body: { endInMilliseconds: await leasesEndIn(context, params.id) } };
    },
  };
}
