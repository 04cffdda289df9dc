// The routes of Ingresses: joining, renewing credentials, the topology, and reports.
import type { DomainRoute } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { requireOwnKey } from '../http/callers/link-routes.ts';
import type { HandlersOf } from '../http/handlers.ts';
import { challengeMember } from '../members/member-credentials.ts';
import { ingressMembers, joinIngress, renewIngress } from './ingresses.ts';
import { reportTraffic } from './report-traffic.ts';
import { streamTopology } from './stream-topology.ts';

export type IngressRoute = DomainRoute<'ingress'>;

export interface IngressRouteParts {
  /** Milliseconds between two signs of life of the topology stream. */
  readonly topologyBeat: number;
  /** The topology streams that are open here. */
  readonly open: Set<object>;
}

export function ingressRoutes(
  context: CoreContext,
  { topologyBeat, open }: IngressRouteParts,
): HandlersOf<IngressRoute> {
  return {
    'ingress.join': async ({ body, request }) => {
      requireOwnKey(request, body.publicKey);
      return { status: 201, body: await joinIngress(context, body) };
    },
    'ingress.challenge': async ({ body }) => ({
      status: 200,
      body: { nonce: await challengeMember(context, ingressMembers(context), body.publicKey) },
    }),
    'ingress.credential': async ({ body }) => ({ status: 200, body: await renewIngress(context, body) }),
    'ingress.topology': (call) => streamTopology({ context, beatMilliseconds: topologyBeat, open }, call),
    'ingress.applied': async ({ caller, body }) => {
      await context.followers.confirm('topology', caller.ingressId, body.revision);
      return { status: 204 };
    },
    'ingress.report': async ({ caller, body }) => {
      await reportTraffic(context, caller.ingressId, body);
      return { status: 204 };
    },
  };
}
