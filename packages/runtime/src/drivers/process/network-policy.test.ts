// The network of a process sandbox follows its owner's grants, in each way of confinement and, for an ordinary user, with
// each carrier of packets.
import { describe } from 'node:test';
import { networkPolicyBehaviour } from '../../../test-support/conformance/network-policy.ts';
import { inInternet, NAME_SERVER } from '../../../test-support/in-internet.ts';
import { findProgram } from '../../find-program.ts';

interface Kind {
  readonly way: string;
  readonly carrier?: string;
}
const asRoot: readonly Kind[] = [{ way: 'bubblewrap' }, { way: 'unshare' }, { way: 'unshare-as-root' }];
/** Each carrier and each way of making sandboxes once. */
const asUser: readonly Kind[] = [
  { way: 'bubblewrap', carrier: 'pasta' },
  { way: 'unshare', carrier: 'slirp4netns' },
];

inInternet(
  import.meta.url,
  () => {
    for (const { way, carrier } of process.getuid?.() === 0 ? asRoot : asUser) {
      const skip =
        carrier !== undefined &&
        findProgram(carrier) === undefined &&
        `${carrier} is missing (Debian: apt-get install passt slirp4netns)`;
      describe(carrier ?? 'veth', { skip }, () => {
        networkPolicyBehaviour({
          name: `process, ${way}`,
          module: new URL('../../../test-support/conformance/process.ts', import.meta.url),
          options: { way, dns: NAME_SERVER, ...(carrier === undefined ? {} : { carrier }) },
          can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
        });
      });
    }
  },
  'root',
  'ordinary user',
);
