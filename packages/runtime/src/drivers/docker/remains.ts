// Retries the removal of cells that could not be removed when they ended because the engine was away.
import { setTimeout as delay } from 'node:timers/promises';
import { engineMessage } from './engine.ts';

export interface Remains {
  /** Removes the cell with this id as soon as possible. `error` is why it could not be removed now. */
  add(cell: string, error: unknown): void;
  /** Tries once more, unless the engine is cut off. Returns the cells that remain, which the next Runtime removes. */
  close(): Promise<readonly string[]>;
}

const AGAIN_MS = 1_000;

export interface RemainsOptions {
  destroy(cell: string): Promise<void>;
  /** Aborted when requests to the engine are given up. */
  readonly cut: AbortSignal;
  /** Called with why a cell could not be removed, once for each reason. */
  onFailure(cell: string, reason: string): void;
}

export function openRemains({ destroy, cut, onFailure }: RemainsOptions): Remains {
  /** Cells that remain, with the reason reported last. */
  const left = new Map<string, string>();
  let sweeping = false;
  let closed = false;

  function keep(cell: string, error: unknown): void {
    const reason = engineMessage(error);
    if (left.get(cell) !== reason) onFailure(cell, reason);
    left.set(cell, reason);
  }

  async function sweep(): Promise<void> {
    for (const cell of [...left.keys()]) {
      try {
        await destroy(cell);
        left.delete(cell);
      } catch (error) {
        keep(cell, error);
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
    add(cell, error) {
      keep(cell, error);
      if (!sweeping) void keepSweeping();
    },
    async close() {
      closed = true;
      // Its processes were ended when it was added; only the engine's objects remain.
      if (!cut.aborted) await sweep();
      return [...left.keys()];
    },
  };
}
