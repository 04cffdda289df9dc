// The wait of a loop that reads, sleeps until something may have changed, and reads again.

export class Wake {
  #woken = false;
  #resolve: (() => void) | undefined;

  /** Bound, so that it can be handed on as a listener. */
  readonly wake = (): void => {
    this.#woken = true;
    this.#resolve?.();
  };

  /** Resolves at the next wake, or at once after one since the last `next`, so that none in between is missed. */
  async next(): Promise<void> {
    if (!this.#woken)
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    this.#resolve = undefined;
    this.#woken = false;
  }
}
