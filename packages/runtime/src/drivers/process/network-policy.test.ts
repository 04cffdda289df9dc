// The network of a process sandbox follows its owner's grants, in each way of confinement and, for an ordinary user, of
// carrying packets.
import { inInternet, NAME_SERVER } from '../../testing/in-internet.ts';
import { networkPolicyBehaviour } from '../conformance/network-policy.ts';

inInternet(
  import.meta.url,
  () => {
    const ways = process.getuid?.() === 0 ? ['bubblewrap', 'unshare', 'unshare-as-root'] : ['bubblewrap'];
    for (const way of ways) {
      networkPolicyBehaviour({
        name: `process, ${way}`,
        module: new URL('for-conformance.ts', import.meta.url),
        options: { way, dns: NAME_SERVER },
        can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
      });
    }
  },
  'root',
  'ordinary user',
);
