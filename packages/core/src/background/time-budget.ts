// The time that a job may take, counted while it computes and not while it waits for input.
import { OverBudgetError } from './thread-pool.ts';

export class TimeBudget {
  readonly #expired = new AbortController();
  readonly #all: number;
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number) {
    this.#all = milliseconds;
    this.#left = milliseconds;
  }

  /** Fires, with an `OverBudgetError`, when the time is used up. */
  get signal(): AbortSignal {
    return this.#expired.signal;
  }

  resume(): void {
    this.#since = performance.now();
    const late = new OverBudgetError(`it took longer than ${this.#all / 1_000} s`);
    this.#timer = setTimeout(() => this.#expired.abort(late), this.#left).unref();
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = Math.max(1, this.#left - (performance.now() - this.#since));
  }
}
