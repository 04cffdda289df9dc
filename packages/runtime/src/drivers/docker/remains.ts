// Cells that could not be taken apart when they ended, because the engine was away: they are when it is back.
import { setTimeout as delay } from 'node:timers/promises';
import { engineMessage } from './engine.ts';

export interface Remains {
  /** Has the cell with this id taken apart as soon as that can be done. `error` says why it could not be now. */
  add(cell: string, error: unknown): void;
  /** Tries once more, unless the line to the engine is cut, and returns what cannot be done now: it is left to the next Runtime. */
  close(): Promise<readonly string[]>;
}

const AGAIN_MS = 1_000;

export interface RemainsOptions {
  destroy(cell: string): Promise<void>;
  /** Nobody waits for the engine any more. */
  readonly cut: AbortSignal;
  /** Hears why a cell is still there, once for each reason. */
  tell(cell: string, reason: string): void;
}

export function openRemains({ destroy, cut, tell }: RemainsOptions): Remains {
  /** With the reason that was told last. */
  const left = new Map<string, string>();
  let sweeping = false;
  let closed = false;

  function keep(cell: string, error: unknown): void {
    const reason = engineMessage(error);
    if (left.get(cell) !== reason) tell(cell, reason);
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
      // Its processes were ended when it was added; the rest is the engine's.
      if (!cut.aborted) await sweep();
      return [...left.keys()];
    },
  };
}
