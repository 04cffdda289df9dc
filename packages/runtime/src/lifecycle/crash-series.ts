// How long to wait after a crash, and when to give up: the delay doubles, and a healthy minute begins a new series.

const FIRST_DELAY = 1_000;
/** Milliseconds. */
export const LONGEST_DELAY = 60_000;
export const CRASHES_AT_MOST = 5;
/** Milliseconds that a run must last to end the series. */
export const HEALTHY = 60_000;

export class CrashSeries {
  #count = 0;

  /** Counts one more crash. The milliseconds until the next attempt, or undefined when there shall be none. */
  next(): number | undefined {
    this.#count += 1;
    if (this.#count >= CRASHES_AT_MOST) return undefined;
    return Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.#count - 1));
  }

  /** Once may be chance; nobody should wait for what crashes again and again. */
  isLoop(): boolean {
    return this.#count > 1;
  }

  forget(): void {
    this.#count = 0;
  }
}
