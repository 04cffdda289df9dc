// Limits how many workloads start at the same time, so that a restart of the node does not start all of them at once.

export interface Slots {
  use<Value>(work: () => Promise<Value>): Promise<Value>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const queue: (() => void)[] = [];
  return {
    async use(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}
