// No way leads out of a process sandbox of an ordinary user whose owner has granted it the internet either.
import { findProgram } from '../../../packages/runtime/src/find-program.ts';
import { inInternet } from '../../../packages/runtime/src/testing/in-internet.ts';
import { escapeSuite } from './suite.ts';

const carriers = ['pasta', 'slirp4netns'].filter((name) => findProgram(name) !== undefined);

inInternet(
  import.meta.url,
  () => {
    for (const carrier of carriers) {
      escapeSuite({
        name: `a process sandbox of an ordinary user, with the internet through ${carrier}`,
        module: new URL('../../../packages/runtime/src/drivers/process/for-conformance.ts', import.meta.url),
        options: { way: 'bubblewrap', carrier },
        network: { public: true, tunnel: false },
        can: { runtimeKilled: 'ends', cpuTimeSeenInside: true },
      });
    }
  },
  'ordinary user',
);
