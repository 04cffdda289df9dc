// Waits in tests: always for a condition, never for a time.
import { setTimeout as delay } from 'node:timers/promises';

/** Asks again every few milliseconds until `condition` gives something true, and fails after `limit` milliseconds. */
export async function until<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  limit = 20_000,
): Promise<Exclude<Value, Nothing>> {
  const deadline = Date.now() + limit;
  for (;;) {
    const value = await condition();
    if (isSomething(value)) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await delay(5);
  }
}

type Nothing = false | null | undefined | '' | 0;

function isSomething<Value>(value: Value): value is Exclude<Value, Nothing> {
  return Boolean(value);
}
