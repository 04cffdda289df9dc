// Slows refusals down: the more of them one caller draws, the longer each one takes, so that a caller that asks as fast
// as it can costs the others little. A caller that obeys `Retry-After` never notices.

/** What one caller drew of late. */
export interface Pace {
  /** Counts one refusal. @returns milliseconds to hold it back, at most two seconds */
  next(): number;
}

/** So many a second are answered at once, and forgotten at this rate. */
const FREE = 20;
/** For each one above. With n connections at full speed about the square root of 200 × n are refused each second. */
const STEP_MILLISECONDS = 5;
const LONGEST_MILLISECONDS = 2_000;

/** @param now milliseconds that only go forward */
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
