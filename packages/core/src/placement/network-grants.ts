// The part of an assignment that follows from an installation's grants: network access, UDP ports, object storage.
import type { Assignment, Grant, PublicPort } from '@platform/contract';
import { allows } from '../grants/grant-coverage.ts';

/**
 * `network.public` and `runtime.network-tunnel` count only for everything (`*`): nothing on a node could hold a
 * workload to a part of the internet. A UDP port needs its declaration in the manifest and `endpoints.public.udp`.
 */
export function networkGrants(
  grants: readonly Grant[],
  publicPorts: readonly PublicPort[],
): Pick<Assignment, 'network' | 'udpPorts'> {
  return {
    network: {
      public: allows(grants, 'network.public', '*'),
      tunnel: allows(grants, 'runtime.network-tunnel', '*'),
    },
    udpPorts: publicPorts
      .filter(({ containerPort }) => allows(grants, 'endpoints.public.udp', `UDP:${containerPort}`))
      .map(({ name, containerPort }) => ({ name, containerPort })),
  };
}

/**
 * The grants that a node enforces; core checks the others at each request.
 *
 * @param offersStorage whether the platform offers object storage to the account on this node
 */
export function grantsForNode(
  grants: readonly Grant[],
  publicPorts: readonly PublicPort[],
  offersStorage: boolean,
): Pick<Assignment, 'network' | 'udpPorts' | 'objectStorage'> {
  return {
    ...networkGrants(grants, publicPorts),
    objectStorage: offersStorage && allows(grants, 'object-storage.raw', 'self'),
  };
}
