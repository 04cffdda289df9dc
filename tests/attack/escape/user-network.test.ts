// No way leads out of a process sandbox of an ordinary user whose owner has granted it the internet either.

import { inInternet } from '../../../packages/runtime/test-support/in-internet.ts';
import { findProgram } from '../../../packages/runtime/test-support/internals.ts';
import { escapeSuite } from './suite.ts';

const carrier = ['pasta', 'slirp4netns'].find((name) => findProgram(name) !== undefined);

inInternet(
  import.meta.url,
  () =>
    escapeSuite({
      name: `a process sandbox of an ordinary user, with the internet through ${carrier}`,
      module: new URL('../../../packages/runtime/test-support/conformance/process.ts', import.meta.url),
      options: { way: 'bubblewrap', carrier: carrier ?? '' },
      network: { public: true, tunnel: false },
      can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
    }),
  'ordinary user',
);
