// What every driver must show, shown by process sandboxes of an ordinary user whose workloads may reach the internet: it
// opens none of this machine's own services, other workloads or rights, and ends with what it was given to.

import { driverConformance } from '../../../test-support/conformance/suite.ts';
import { inInternet } from '../../../test-support/in-internet.ts';
import { findProgram } from '../../find-program.ts';

const carrier = ['pasta', 'slirp4netns'].find((name) => findProgram(name) !== undefined);

inInternet(
  import.meta.url,
  () =>
    driverConformance({
      name: `process, as an ordinary user, with the internet through ${carrier}`,
      module: new URL('../../../test-support/conformance/process.ts', import.meta.url),
      options: { way: 'bubblewrap', carrier: carrier ?? '' },
      network: { public: true, tunnel: false },
      can: { runtimeKilled: 'ends', cpuTimeSeenInside: true, publishesUdp: true },
    }),
  'ordinary user',
);
