// How much a test tries. The ordinary run tries fixed cases, so that it is short and a failure is the change's fault; files
// that rotate try other ones at each commit. PLATFORM_TEST_THOROUGH=1 tries many more, and other ones each time.
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import { readRotation, rotates } from '../../scripts/test/rotation.ts';
import { randomFrom } from './random.ts';

const THOROUGH = process.env.PLATFORM_TEST_THOROUGH === '1';
const ORDINARY_SEED = 20_261_122;

/** The first for an ordinary run, the second for a thorough one. */
export function thorough<Value>(ordinary: Value, large: Value): Value {
  return THOROUGH ? large : ordinary;
}

/**
 * `PLATFORM_TEST_SEED` repeats a run. Otherwise it is new for a thorough run, that of the run's turn for a file that
 * rotates, and else fixed.
 */
export function testSeed(): number {
  const given = process.env.PLATFORM_TEST_SEED;
  if (given !== undefined) return Number(given);
  return thorough(ordinarySeed(), Date.now() % 1_000_000_000);
}

function ordinarySeed(): number {
  const { PLATFORM_TEST_ROTATING_SEED: ofTurn } = process.env;
  if (ofTurn === undefined) return ORDINARY_SEED;
  const file = path.relative(path.join(import.meta.dirname, '../..'), process.argv[1] ?? '');
  return rotates(readRotation(), file) ? Number(ofTurn) : ORDINARY_SEED;
}

/** Random numbers from 0 to below 1 for one test, which prints its seed. */
export function randomOf(context: TestContext): () => number {
  const seed = testSeed();
  context.diagnostic(`PLATFORM_TEST_SEED=${seed}`);
  return randomFrom(seed);
}
