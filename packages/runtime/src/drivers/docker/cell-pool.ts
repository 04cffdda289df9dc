// Keeps one cell ready, so that the start of a workload waits for its own container only.
import type { Cell } from './cells.ts';

export interface CellPool {
  /** The cell that stands ready, or a new one. An engine that was started again has ended the Gateways of all. */
  take(): Promise<Cell>;
  /** Makes a spare cell once no start is waiting. */
  refill(): void;
  close(): Promise<void>;
}

/** @param onFailure Called with the error when a spare could not be made; the next start then makes its own cell. */
export function openCellPool(make: () => Promise<Cell>, onFailure: (error: unknown) => void): CellPool {
  let spare: Promise<Cell | undefined> | undefined;
  let closed = false;
  return {
    async take() {
      const taken = spare;
      spare = undefined;
      const ready = await taken;
      if (ready === undefined) return make();
      if (await ready.stands()) return ready;
      await ready.destroy();
      return make();
    },
    refill() {
      if (closed || spare !== undefined) return;
      const mine = make().catch((error: unknown) => {
        onFailure(error);
        // One that was taken before it failed has a successor.
        if (spare === mine) spare = undefined;
        return undefined;
      });
      spare = mine;
    },
    async close() {
      closed = true;
      await (await spare)?.destroy();
    },
  };
}
