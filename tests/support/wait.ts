// Waits in tests: always for a condition, never for a time.
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two questions: few at first, and then a small part of what was waited already. */
const SHORTEST_PAUSE = 5;
const LONGEST_PAUSE = 100;
const PART_OF_WAIT = 1 / 20;

/**
 * Asks again until `condition` gives something true, and fails after `limit` milliseconds. Who waits long asks less often:
 * a question is a request in many tests, and takes the processor from what is waited for.
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
