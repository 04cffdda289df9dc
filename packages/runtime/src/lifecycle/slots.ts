// Limits how many workloads start at the same time, so that a restart of the node does not start all of them at once.

export interface Slots {
  /**
   * Runs `work` when a slot is free: starts that a caller waits for first, then automatic ones, each in order of
   * arrival.
   * @param isAwaited asked each time a place becomes free
   */
  use<Value>(isAwaited: () => boolean, work: () => Promise<Value>): Promise<Value>;
}

interface Waiting {
  readonly isAwaited: () => boolean;
  readonly begin: () => void;
}

export function createSlots(count: number): Slots {
  let free = count;
  const queue: Waiting[] = [];

  function takeNext(): Waiting | undefined {
    const awaited = queue.findIndex((one) => one.isAwaited());
    return queue.splice(Math.max(awaited, 0), 1)[0];
  }

  return {
    async use(isAwaited, work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((begin) => queue.push({ isAwaited, begin }));
      try {
        return await work();
      } finally {
        const next = takeNext();
        if (next === undefined) free += 1;
        else next.begin();
      }
    },
  };
}
