// As root: the network of a process sandbox follows its owner's grants, in each way of confinement.
import { inInternet, NAME_SERVER } from '../../testing/in-internet.ts';
import { networkPolicyBehaviour } from '../conformance/network-policy.ts';

inInternet(import.meta.url, () => {
  for (const way of ['bubblewrap', 'unshare', 'unshare-as-root']) {
    networkPolicyBehaviour({
      name: `process, ${way}`,
      module: new URL('for-conformance.ts', import.meta.url),
      options: { way, dns: NAME_SERVER },
      can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
    });
  }
});
