// Repeats a call that changes nothing more when it is repeated, while the platform restarts or asks to wait.
import { type Clock, pause } from './clock.ts';
import { PlatformError } from './platform-error.ts';

/** A restart of the platform or its database takes seconds. */
const PATIENCE_MILLISECONDS = 120_000;
const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 5_000;

export interface Patience {
  readonly clock: Clock;
  /** 0 to 1, for pauses that do not all end at once. */
  readonly random: () => number;
}

/**
 * @param signal ends the waiting; the call gets it too
 * @throws {PlatformError} the last refusal, once it is of another kind or has lasted two minutes
 */
export async function patiently<Result>(
  { clock, random }: Patience,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const end = clock.now() + PATIENCE_MILLISECONDS;
  for (let failures = 0; ; failures += 1) {
    try {
      return await call(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PlatformError) || !isPassing(error) || clock.now() >= end) throw error;
      const growing = Math.min(LONGEST_PAUSE_MILLISECONDS, FIRST_PAUSE_MILLISECONDS * 2 ** failures);
      await pause(clock, Math.max(growing * (0.5 + random()), (error.retryAfter ?? 0) * 1_000), signal);
    }
  }
}

/** Whether the same call may succeed later. */
function isPassing({ code, status }: PlatformError): boolean {
  if (code === 'network_failed' || code === 'timed_out') return true;
  return status >= 500 || code === 'rate_limited' || code === 'concurrency_limited';
}
