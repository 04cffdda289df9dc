// Prepares what is to be indexed in threads, so that requests are answered meanwhile; small changes where they are, because
// crossing to a thread and back, and having one, costs more than they do.
import { refuse } from '@platform/contract';
import { OverBudgetError, ThreadPool } from '../background/thread-pool.ts';
import type { Worker } from '../domain.ts';
import {
  type EntriesJob,
  type Prepare,
  type PreparedEntry,
  type PreparedWords,
  prepareHere,
  type WordsJob,
} from './prepare-entries.ts';

/** Characters of texts, or of words, that take a millisecond or two. */
const SMALL = 16 * 1024;
/** For a piece of a request, which takes some ten milliseconds as a rule. */
const MILLISECONDS = 30_000;
const MEMORY_MIB = 128;

export class PreparePool implements Prepare, Worker {
  readonly #pool: ThreadPool<EntriesJob | WordsJob, readonly PreparedEntry[] | PreparedWords>;

  constructor({ milliseconds = MILLISECONDS } = {}) {
    const program = new URL('./prepare-thread.ts', import.meta.url);
    this.#pool = new ThreadPool({ program, memoryMiB: MEMORY_MIB, milliseconds });
  }

  /** There are none until there is much to do. */
  get threads(): number {
    return this.#pool.size;
  }

  /** Threads begin with the first job. */
  start(): void {}

  stop(): Promise<void> {
    return this.#pool.close();
  }

  async entries(job: EntriesJob, over?: AbortSignal): Promise<readonly PreparedEntry[]> {
    const size = job.entries.reduce((sum, { entry }) => sum + entry.title.length + entry.text.length, 0);
    if (size <= SMALL) return prepareHere.entries(job);
    return (await this.#run(job, over)) as readonly PreparedEntry[];
  }

  async words(job: WordsJob, over?: AbortSignal): Promise<PreparedWords> {
    const size = job.words.reduce((sum, word) => sum + word.length, 0);
    if (size <= SMALL / 8) return prepareHere.words(job);
    return (await this.#run(job, over)) as PreparedWords;
  }

  /** @throws RefusalError `unavailable` for what takes too much */
  async #run(
    job: EntriesJob | WordsJob,
    caller: AbortSignal | undefined,
  ): Promise<readonly PreparedEntry[] | PreparedWords> {
    try {
      return await this.#pool.run(job, { caller });
    } catch (error) {
      if (!(error instanceof OverBudgetError)) throw error;
      throw refuse('unavailable', `The entries could not be indexed: ${error.message}. Send fewer, or shorter ones.`);
    }
  }
}
