// Work that can be cancelled, and the simplest of it: what is done after a while.

/** Work on a request that can be cancelled. */
export interface Abandonable {
  /** Called when the response was closed or answered elsewhere: stop upstream work and write no more. Idempotent. */
  abandon(): void;
}

/** Acts after some milliseconds, for 0 at once. @returns what prevents it; `null` once it has acted */
export function hold(milliseconds: number, act: () => void): Abandonable | null {
  if (milliseconds === 0) {
    act();
    return null;
  }
  const timer = setTimeout(act, milliseconds);
  return { abandon: () => clearTimeout(timer) };
}
