// Cells that could not be taken apart when they ended, because the engine was away: they are when it is back.
import { setTimeout as delay } from 'node:timers/promises';

export interface Remains {
  /** Has the cell with this id taken apart as soon as that can be done. */
  add(cell: string): void;
  /** Tries once more, and gives up what cannot be done now to the next Runtime. */
  close(): Promise<void>;
}

const AGAIN_MS = 1_000;

/** @param tell Hears why a cell is still there. */
export function openRemains(
  destroy: (cell: string) => Promise<void>,
  tell: (cell: string, error: unknown) => void,
): Remains {
  const left = new Set<string>();
  let sweeping = false;
  let closed = false;

  async function sweep(): Promise<void> {
    for (const cell of [...left]) {
      try {
        await destroy(cell);
        left.delete(cell);
      } catch (error) {
        tell(cell, error);
      }
    }
  }

  async function keepSweeping(): Promise<void> {
    sweeping = true;
    while (left.size > 0 && !closed) {
      await delay(AGAIN_MS, undefined, { ref: false });
      if (!closed) await sweep();
    }
    sweeping = false;
  }

  return {
    add(cell) {
      left.add(cell);
      if (!sweeping) void keepSweeping();
    },
    async close() {
      closed = true;
      await sweep();
    },
  };
}
