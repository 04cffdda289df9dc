// Gives memory back after a load: V8 keeps what a load made it take for the next one, and a process without work
// allocates nothing that would make it collect garbage.
import { performance } from 'node:perf_hooks';
import { collectGarbage } from './release-start-memory.ts';

export interface IdleCollectionOptions {
  /** Part of the time since the last call in which the process worked. */
  readonly busy: () => number;
  /** Bytes of the process in memory. */
  readonly resident: () => number;
  readonly collect: () => void;
}

const EVERY_MILLISECONDS = 20_000;
/** Less work than this is none: heartbeats, metrics. */
const IDLE = 0.05;
/** Less growth since the last collection is not worth one. */
const WORTH_BYTES = 32 * 2 ** 20;

export class IdleCollection {
  readonly #options: IdleCollectionOptions;
  #least: number;

  constructor(options: IdleCollectionOptions) {
    this.#options = options;
    this.#least = options.resident();
  }

  /** Collects garbage if the process was idle since the last look and holds more than it once needed. */
  look(): void {
    const { busy, resident, collect } = this.#options;
    if (busy() >= IDLE) return;
    const held = resident();
    if (held < this.#least + WORTH_BYTES) {
      this.#least = Math.min(this.#least, held);
      return;
    }
    collect();
    this.#least = resident();
  }
}

/** Looks from now on, as long as the process has something else to do. */
export function collectWhenIdle(): void {
  let last = performance.eventLoopUtilization();
  const collection = new IdleCollection({
    busy() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    resident: () => process.memoryUsage.rss(),
    collect: collectGarbage,
  });
  setInterval(() => collection.look(), EVERY_MILLISECONDS).unref();
}
