// One thing after the other, in the order in which it came, except while the one whose turn it is waits for somebody else.

export interface Turns {
  /** Runs when all that was given before has ended, or waits apart. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Within a turn: lets others have theirs until `work` has ended, and then goes on before those that wait. */
  apart<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether nothing runs, waits or is apart. */
  readonly isIdle: boolean;
}

export function openTurns(): Turns {
  const back: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  let isHeld = false;
  let begun = 0;

  async function acquire(queue: (() => void)[]): Promise<void> {
    if (!isHeld) {
      isHeld = true;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push(resolve);
    await promise;
  }

  function release(): void {
    const next = back.shift() ?? waiting.shift();
    if (next === undefined) isHeld = false;
    else next();
  }

  return {
    async take(work) {
      begun += 1;
      await acquire(waiting);
      try {
        return await work();
      } finally {
        begun -= 1;
        release();
      }
    },
    async apart(work) {
      release();
      try {
        return await work();
      } finally {
        await acquire(back);
      }
    },
    get isIdle() {
      return begun === 0;
    },
  };
}
