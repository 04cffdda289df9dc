// Getting another credential in place of one that was refused, once for all calls that wait for it.

/** After a renewal no other begins for this long: calls that are refused in spite of it would cause renewals without end. */
const PAUSE_MILLISECONDS = 30_000;

export class Renewal {
  readonly #again: () => Promise<boolean>;
  readonly #now: () => number;
  #running: Promise<boolean> | undefined;
  #pausesUntil = 0;

  /** @param again gets another one; returns false when there is none. What it throws counts as none */
  constructor(again: () => Promise<boolean>, now: () => number = () => performance.now()) {
    this.#again = again;
    this.#now = now;
  }

  /** @returns whether there is another one now */
  run(): Promise<boolean> {
    if (this.#running === undefined && this.#now() < this.#pausesUntil) return Promise.resolve(false);
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<boolean> {
    try {
      return await this.#again();
    } catch {
      // The caller then throws the refusal of its call, which says what to do.
      return false;
    } finally {
      this.#running = undefined;
      this.#pausesUntil = this.#now() + PAUSE_MILLISECONDS;
    }
  }
}
