// The process driver shows what every driver must, in each way in which it can confine on this machine.
import { driverConformance } from '../../../test-support/conformance/suite.ts';

const ways = ['bubblewrap', 'unshare', ...(process.getuid?.() === 0 ? ['unshare-as-root'] : [])];

for (const way of ways) {
  driverConformance({
    name: `process, ${way}`,
    module: new URL('../../../test-support/conformance/process.ts', import.meta.url),
    options: { way },
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: true, publishesUdp: true },
  });
}
