// A delay that ends early when it is aborted.
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after the time, or when the signal is aborted: the caller looks which. Keeps no process alive. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  // Its only failure is the abort.
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}
