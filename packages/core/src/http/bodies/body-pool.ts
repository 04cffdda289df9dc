// Parses large bodies in a thread, one after the other: 32 MiB of JSON take a second, during which no request would be
// answered, and the memory of the one thread is the budget of them all.
import { RefusalError, type RouteId, refuse } from '@platform/contract';
import { type JobOptions, OverBudgetError, ThreadPool } from '../../background/thread-pool.ts';
import type { BodyJob, ParsedBody } from './body-thread.ts';

/** Bytes of JSON that are parsed in some ten milliseconds. Smaller bodies are parsed where they are. */
export const LARGE_BODY = 128 * 1024;
const MILLISECONDS = 30_000;
/** Many times what is held of one body. */
const MEMORY_MIB = 128;

export class BodyPool {
  readonly #pool: ThreadPool<BodyJob, ParsedBody>;

  constructor({ milliseconds = MILLISECONDS } = {}) {
    const program = new URL('./body-thread.ts', import.meta.url);
    this.#pool = new ThreadPool({ program, memoryMiB: MEMORY_MIB, milliseconds, threads: 1 });
  }

  /** There is none until a large body comes. */
  get threads(): number {
    return this.#pool.size;
  }

  /**
   * As `parseBody`; `bytes` may be empty afterwards.
   *
   * @param caller once they have left, it is not begun, and fails with the reason
   * @throws RefusalError `unavailable` for a body that takes too much time or memory besides
   */
  async parse(route: RouteId, bytes: Buffer, caller?: AbortSignal): Promise<unknown> {
    // Handed over where it is a buffer of its own; where it is a part of a larger one, all of that would be gone.
    const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
    const transfer = own.buffer instanceof ArrayBuffer ? [own.buffer] : [];
    return this.#run({ kind: 'whole', route, bytes: own }, { transfer, caller });
  }

  /**
   * Checks a body that lies in a file and writes its items to another one (`checkItems`).
   *
   * @returns the keys of the items
   * @throws RefusalError as `parse`
   */
  async items(route: RouteId, from: string, to: string, caller?: AbortSignal): Promise<readonly string[]> {
    return (await this.#run({ kind: 'items', route, from, to }, { caller })) as readonly string[];
  }

  async #run(job: BodyJob, options: JobOptions): Promise<unknown> {
    try {
      const parsed = await this.#pool.run(job, options);
      if ('refusal' in parsed) throw new RefusalError(parsed.refusal);
      return parsed.value;
    } catch (error) {
      if (!(error instanceof OverBudgetError)) throw error;
      throw refuse('unavailable', `The body could not be read: ${error.message}. Send less at once.`);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
