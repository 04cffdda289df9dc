// Delays refusals: the more a caller provokes, the longer each one takes, so that a caller at full speed costs the
// others little. A caller that obeys `Retry-After` is never delayed.

/** The recent refusals of one caller. */
export interface Pace {
  /**
   * Counts refusals. @returns milliseconds to hold the newest one back, at most two seconds
   *
   * @param refusals that are given together. Default: one
   */
  next(refusals?: number): number;
}

/** The recent refusals of each caller. */
export interface Paces {
  /** Counts refusals of one caller (`Pace.next`). */
  next(caller: string, refusals?: number): number;
}

/** Refusals per second that are answered at once; the count decays at this rate. */
const FREE = 20;
/** For each one above. */
const STEP_MILLISECONDS = 5;
const LONGEST_MILLISECONDS = 2_000;
/** Enough for every active caller; the ones forgotten first were idle longest. */
const CALLERS = 10_000;

/**
 * @param now a monotonic clock in milliseconds
 * @param free refusals per second that are answered at once
 */
export function openPace(now: () => number, free = FREE): Pace {
  // What goes beyond the longest delay is not counted: a client that stops is at full speed again within half a minute.
  const most = free + LONGEST_MILLISECONDS / STEP_MILLISECONDS;
  let level = 0;
  let at = now();
  return {
    next(refusals = 1) {
      const time = now();
      level = Math.min(most, Math.max(0, level - ((time - at) / 1_000) * free) + refusals);
      at = time;
      return Math.max(0, level - free) * STEP_MILLISECONDS;
    },
  };
}

/** @param options as of `openPace` */
export function openPaces(...options: Parameters<typeof openPace>): Paces {
  const paces = new Map<string, Pace>();
  return {
    next(caller, refusals) {
      const pace = paces.get(caller) ?? openPace(...options);
      paces.delete(caller);
      paces.set(caller, pace);
      if (paces.size > CALLERS) paces.delete(paces.keys().next().value ?? caller);
      return pace.next(refusals);
    },
  };
}
