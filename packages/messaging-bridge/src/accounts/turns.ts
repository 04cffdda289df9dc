// One thing after the other.

export interface Turns {
  /** Runs when all that was given before has ended. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  readonly isIdle: boolean;
}

export function openTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    take(work) {
      waiting += 1;
      const turn = last.then(work, work);
      last = turn
        .catch(() => undefined)
        .finally(() => {
          waiting -= 1;
        });
      return turn;
    },
    get isIdle() {
      return waiting === 0;
    },
  };
}
