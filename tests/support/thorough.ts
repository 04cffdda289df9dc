// How much a test tries. The ordinary run tries fixed cases, so that it is short and a failure is the change's fault;
// PLATFORM_TEST_THOROUGH=1 tries many more, and other ones each time.
import type { TestContext } from 'node:test';
import { randomFrom } from './random.ts';

const THOROUGH = process.env.PLATFORM_TEST_THOROUGH === '1';
const ORDINARY_SEED = 20_261_122;

/** The first for an ordinary run, the second for a thorough one. */
export function thorough<Value>(ordinary: Value, large: Value): Value {
  return THOROUGH ? large : ordinary;
}

/** `PLATFORM_TEST_SEED` repeats a run; otherwise it is fixed, or new for a thorough run. */
export function testSeed(): number {
  const given = process.env.PLATFORM_TEST_SEED;
  if (given !== undefined) return Number(given);
  return thorough(ORDINARY_SEED, Date.now() % 1_000_000_000);
}

/** Random numbers from 0 to below 1 for one test, which prints its seed. */
export function randomOf(context: TestContext): () => number {
  const seed = testSeed();
  context.diagnostic(`PLATFORM_TEST_SEED=${seed}`);
  return randomFrom(seed);
}
