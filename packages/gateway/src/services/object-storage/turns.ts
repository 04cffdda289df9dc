// Documents of the store are held as a whole, so that few requests at a time may hold one; the others wait.
import type { ServerResponse } from 'node:http';

export interface Turns {
  /**
   * Runs `work` when it is the turn of this request, which lasts until its answer has been read or broken off.
   *
   * @throws what `work` throws, or the reason of `signal`
   */
  run(res: ServerResponse, signal: AbortSignal, work: () => Promise<void>): Promise<void>;
}

export function openTurns(most: number): Turns {
  const waiting = new Set<() => void>();
  let running = 0;

  /** Hands the turn on. */
  function next(): void {
    const [first] = waiting;
    if (first === undefined) running -= 1;
    else {
      waiting.delete(first);
      first();
    }
  }

  async function begin(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (running < most) {
      running += 1;
    } else {
      const turn = Promise.withResolvers<void>();
      const give = (): void => turn.resolve();
      const leave = (): void => {
        if (waiting.delete(give)) turn.reject(signal.reason);
      };
      waiting.add(give);
      signal.addEventListener('abort', leave, { once: true });
      await turn.promise.finally(() => signal.removeEventListener('abort', leave));
    }
  }

  return {
    async run(res, signal, work) {
      await begin(signal);
      try {
        await work();
      } catch (error) {
        next();
        throw error;
      }
      // What was written waits in memory for its reader.
      if (res.writableFinished || res.destroyed) next();
      else res.once('close', next);
    },
  };
}
