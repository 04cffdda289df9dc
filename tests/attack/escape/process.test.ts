// No way leads out of a process sandbox, in each way in which one can be made on this machine.
import type { DriverUnderTest } from '../../../packages/runtime/test-support/conformance/under-test.ts';
import { escapeSuite } from './suite.ts';

const kinds = ['bubblewrap', 'unshare', ...(process.getuid?.() === 0 ? ['unshare-as-root'] : [])];

for (const way of kinds) {
  const under: DriverUnderTest = {
    name: `a process sandbox made with ${way}`,
    module: new URL('../../../packages/runtime/test-support/conformance/process.ts', import.meta.url),
    options: { way },
    can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
  };
  escapeSuite(under);
}
