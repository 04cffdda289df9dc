// Checks uploaded packages in threads: inflating, walking and hashing half a gigabyte takes seconds of CPU time. The
// thread pulls the upload chunk by chunk, so that a slow disk applies backpressure to its upload.
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { limits, RefusalError, refuse } from '@platform/contract';
import { OverBudgetError, ThreadPool } from '../../background/thread-pool.ts';
import { TimeBudget } from '../../background/time-budget.ts';
import { bytesOf } from '../../blobs/guard-upload.ts';
import { systemCode } from '../../config/start-error.ts';
import type { Worker } from '../../domain.ts';
import type { CheckJob, CheckOutcome, UploadPiece } from './check-thread.ts';
import type { VerifyPackage } from './verify-package.ts';

/** For one package, without the time in which its upload is waited for. */
const MILLISECONDS = 300_000;
const MEMORY_MIB = 128;

/** Threads that check packages. */
export class CheckPool implements Worker {
  readonly #milliseconds: number;
  readonly #pool = new ThreadPool<CheckJob, CheckOutcome>({
    program: new URL('./check-thread.ts', import.meta.url),
    memoryMiB: MEMORY_MIB,
    // The time of an upload is its sender's: counted is what the thread takes.
    milliseconds: null,
    // One thread for each concurrent upload, so that a slow one delays no other.
    threads: limits.publishes.value,
  });

  constructor({ milliseconds = MILLISECONDS } = {}) {
    this.#milliseconds = milliseconds;
  }

  /** Threads begin with the first package. */
  start(): void {}

  stop(): Promise<void> {
    return this.#pool.close();
  }

  /** As `verifyPackage`. @throws RefusalError `unavailable` for a package that takes too much time or memory besides */
  readonly verify: VerifyPackage = async (source, scratch, expected) => {
    const { port1: port, port2 } = new MessageChannel();
    const budget = new TimeBudget(this.#milliseconds);
    const bytes = bytesOf(source);
    handOver(bytes, port, budget);
    try {
      const job: CheckJob = { upload: port2, scratch, expected };
      const outcome = await this.#pool.run(job, { transfer: [port2], signal: budget.signal });
      if ('verified' in outcome) return outcome.verified;
      if ('refusal' in outcome) throw new RefusalError(outcome.refusal);
      throw Object.assign(new Error(outcome.message), outcome.code === undefined ? {} : { code: outcome.code });
    } catch (error) {
      if (!(error instanceof OverBudgetError)) throw error;
      throw refuse('unavailable', `The package could not be checked: ${error.message}.`);
    } finally {
      budget.pause();
      port.close();
      bytes.return?.().catch(() => undefined);
    }
  };
}

/** Answers each question of the thread with the next piece. */
function handOver(bytes: AsyncIterator<Buffer>, port: MessagePort, budget: TimeBudget): void {
  const answer = async (): Promise<UploadPiece> => {
    const { done, value } = await bytes.next();
    // A copy of its own, because a piece may be a part of a larger buffer, and all of that would be sent.
    return done === true ? { end: true } : { bytes: new Uint8Array(value) };
  };
  port.on('message', () => {
    budget.pause();
    void answer()
      .catch((error: unknown): UploadPiece => ({ broke: systemCode(error) ?? 'ECONNRESET' }))
      .then((piece) => {
        budget.resume();
        port.postMessage(piece, 'bytes' in piece ? [piece.bytes.buffer] : []);
      });
  });
}
