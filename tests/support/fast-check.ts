// fast-check as our tests use it: the same cases in every ordinary run, ten times as many and other ones in a thorough run.
// A failure prints its seed; PLATFORM_TEST_SEED repeats it.
import fc from 'fast-check';
import { testSeed, thorough } from './thorough.ts';

fc.configureGlobal({ seed: testSeed(), numRuns: thorough(100, 1_000) });

export { fc };
