// What grants allow of the network beyond the Gateway.
import type { Assignment } from '@platform/contract';
import { allows } from '../grants/grant-coverage.ts';
import type { Granted } from '../policy.ts';

/**
 * `network.public` and `runtime.network-tunnel` count only for everything (`*`): nothing on a node could hold a
 * workload to a part of the internet. A UDP port needs its declaration in the manifest and `endpoints.public.udp`.
 */
export function networkPolicy({ grants, manifest }: Pick<Granted, 'grants' | 'manifest'>): {
  readonly node: Pick<Assignment, 'network' | 'udpPorts'>;
} {
  const { publicPorts = [] } = manifest;
  return {
    node: {
      network: {
        public: allows(grants, 'network.public', '*'),
        tunnel: allows(grants, 'runtime.network-tunnel', '*'),
      },
      udpPorts: publicPorts
        .filter(({ containerPort }) => allows(grants, 'endpoints.public.udp', `UDP:${containerPort}`))
        .map(({ name, containerPort }) => ({ name, containerPort })),
    },
  };
}
