// Delays refusals: the more a caller provokes, the longer each one takes, so that a caller at full speed costs the
// others little. A caller that obeys `Retry-After` is never delayed.

/** The recent refusals of one caller. */
export interface Pace {
  /** Counts one refusal. @returns milliseconds to hold it back, at most two seconds */
  next(): number;
}

/** Refusals per second that are answered at once; the count decays at this rate. */
const FREE = 20;
/** For each one above. With n connections at full speed about the square root of 200 × n are refused each second. */
const STEP_MILLISECONDS = 5;
const LONGEST_MILLISECONDS = 2_000;

/** @param now a monotonic clock in milliseconds */
export function openPace(now: () => number): Pace {
  let level = 0;
  let at = now();
  return {
    next() {
      const time = now();
      level = Math.max(0, level - ((time - at) / 1_000) * FREE) + 1;
      at = time;
      return Math.min(LONGEST_MILLISECONDS, Math.max(0, level - FREE) * STEP_MILLISECONDS);
    },
  };
}
