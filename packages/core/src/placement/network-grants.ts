// The part of an assignment that follows from an installation's grants: network access and UDP ports.
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
