// Waits in tests: always for a condition, never for a time.
import { setTimeout as delay } from 'node:timers/promises';

/** The limit of a test that tells a whole story: the runner's is for a single thing (`docs/testing.md`). */
export const STORY_MS = 600_000;

/** Milliseconds between two polls: short at first, then a small part of the time waited so far. */
const SHORTEST_PAUSE = 5;
const LONGEST_PAUSE = 100;
const PART_OF_WAIT = 1 / 20;

/**
 * Polls until `condition` returns something truthy, and returns that; fails after `limit` milliseconds. A long wait polls
 * less often: a poll is a request in many tests, and takes the processor from what is waited for.
 */
export async function until<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  limit = 20_000,
): Promise<Exclude<Value, Nothing>> {
  const begun = performance.now();
  for (;;) {
    const value = await condition();
    if (isSomething(value)) return value;
    const waited = performance.now() - begun;
    if (waited > limit) throw new Error(`waited in vain for: ${what}`);
    await delay(Math.min(LONGEST_PAUSE, Math.max(SHORTEST_PAUSE, waited * PART_OF_WAIT)));
  }
}

type Nothing = false | null | undefined | '' | 0;

function isSomething<Value>(value: Value): value is Exclude<Value, Nothing> {
  return Boolean(value);
}
