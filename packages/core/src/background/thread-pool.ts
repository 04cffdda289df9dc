// Worker threads for jobs of more than some milliseconds, so that they do not block requests. Threads start with the
// first job and end when idle, so that an idle platform has none. A job that exceeds its time or memory fails and its
// thread is ended; the next job starts a new one.

import { availableParallelism } from 'node:os';
import { type TransferListItem, Worker } from 'node:worker_threads';
import { MiB, sizeText } from '@platform/contract/sizes';
import type { JobAnswer } from './thread-jobs.ts';

export interface ThreadPoolOptions {
  /** The program of a thread; it calls `serveJobs`. */
  readonly program: URL;
  /** Memory of its objects, without buffers, at which a thread is ended. */
  readonly memoryMiB: number;
  /** The longest that a thread may take for what it was handed at once; `null` where callers of `run` watch that. */
  readonly milliseconds: number | null;
  /** Jobs handed to one thread at once, where crossing to it costs much of a job. Default: 1. */
  readonly batch?: number;
  /** Default: one processor is left to requests; at most 4. */
  readonly threads?: number;
  /** How long a thread without a job is kept. Default: 10 s. */
  readonly idleMilliseconds?: number;
  /** Whether a thread ends with its first batch, so that nothing of it is left for the next. Default: it goes on. */
  readonly once?: boolean;
}

export interface JobOptions {
  /** Handed over instead of copied. */
  readonly transfer?: readonly TransferListItem[];
  /** Gives the job up: fails it with the reason, and ends its thread if one works on it. */
  readonly signal?: AbortSignal;
  /** Of whoever waits for the result: once they have left, the job fails with the reason, unless a thread works on it. */
  readonly caller?: AbortSignal | undefined;
}

/** A job took more time or memory than it may. */
export class OverBudgetError extends Error {
  override readonly name = 'OverBudgetError';
}

interface Waiting<Job, Result> {
  readonly job: Job;
  readonly transfer: readonly TransferListItem[];
  readonly done: (result: Result) => void;
  readonly failed: (error: Error) => void;
  /** From here on the job ends with its thread, and not with its caller. */
  readonly begun: () => void;
}

interface Thread<Job, Result> {
  readonly worker: Worker;
  batch: readonly Waiting<Job, Result>[];
  /** Until its batch must be done, or until it ends because there is none. */
  timer: NodeJS.Timeout | undefined;
  /** Why it was ended, or ended by itself. */
  reason: Error | null;
}

const THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));
const IDLE_MILLISECONDS = 10_000;
const STOPPED = 'the threads were stopped';

export class ThreadPool<Job, Result> {
  readonly #options: ThreadPoolOptions;
  readonly #queue: Waiting<Job, Result>[] = [];
  readonly #threads = new Set<Thread<Job, Result>>();
  readonly #idle: Thread<Job, Result>[] = [];
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
  }

  /** Threads there are now. */
  get size(): number {
    return this.#threads.size;
  }

  /** @throws OverBudgetError, or an Error with what the job threw */
  run(job: Job, { transfer = [], signal, caller }: JobOptions = {}): Promise<Result> {
    return new Promise<Result>((done, failed) => {
      if (this.#closed) throw new Error(STOPPED);
      signal?.throwIfAborted();
      caller?.throwIfAborted();
      const leave = (): void => this.#giveUp(waiting, caller?.reason);
      const begun = (): void => caller?.removeEventListener('abort', leave);
      const waiting = { job, transfer, done, failed, begun };
      caller?.addEventListener('abort', leave, { once: true });
      signal?.addEventListener('abort', () => this.#giveUp(waiting, signal.reason), { once: true });
      this.#queue.push(waiting);
      this.#hand();
    });
  }

  /** Rejects running jobs and all later calls. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { failed } of this.#queue.splice(0)) failed(new Error(STOPPED));
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #hand(): void {
    if (this.#queue.length === 0) return;
    const { batch = 1, threads = THREADS, milliseconds } = this.#options;
    const thread = this.#idle.pop() ?? (this.#threads.size < threads ? this.#begin() : undefined);
    if (thread === undefined) return;
    clearTimeout(thread.timer);
    thread.batch = this.#queue.splice(0, batch);
    for (const { begun } of thread.batch) begun();
    if (milliseconds !== null) {
      const late = new OverBudgetError(`it took longer than ${milliseconds / 1_000} s`);
      thread.timer = setTimeout(() => this.#end(thread, late), milliseconds).unref();
    }
    const transfer = thread.batch.flatMap((one) => one.transfer);
    thread.worker.postMessage(
      thread.batch.map(({ job }) => job),
      transfer,
    );
  }

  #begin(): Thread<Job, Result> {
    const { program, memoryMiB } = this.#options;
    const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: memoryMiB } });
    // An idle thread must not keep the process alive; callers that await jobs do.
    worker.unref();
    const thread: Thread<Job, Result> = { worker, batch: [], timer: undefined, reason: null };
    this.#threads.add(thread);
    worker.on('message', (answers: readonly JobAnswer<Result>[]) => this.#take(thread, answers));
    worker.on('error', (error: Error & { code?: string }) => {
      const tooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      thread.reason = tooLarge
        ? new OverBudgetError(`it took more than ${sizeText(memoryMiB * MiB)} of memory`)
        : error;
    });
    worker.once('exit', () => this.#lost(thread));
    return thread;
  }

  #take(thread: Thread<Job, Result>, answers: readonly JobAnswer<Result>[]): void {
    // The thread is being ended: its jobs are rejected with the reason.
    if (thread.reason !== null) return;
    const { batch } = thread;
    thread.batch = [];
    clearTimeout(thread.timer);
    if (this.#options.once === true) this.#end(thread, new Error(STOPPED));
    else this.#rest(thread);
    for (const [place, { done, failed }] of batch.entries()) {
      const answer = answers[place];
      if (answer !== undefined && 'result' in answer) done(answer.result);
      else failed(new Error(answer?.failure ?? 'the thread left it out'));
    }
  }

  /** Until its next batch, or until it ends because there is none. */
  #rest(thread: Thread<Job, Result>): void {
    const { idleMilliseconds = IDLE_MILLISECONDS } = this.#options;
    thread.timer = setTimeout(() => this.#end(thread, new Error(STOPPED)), idleMilliseconds).unref();
    this.#idle.push(thread);
    this.#hand();
  }

  #giveUp(waiting: Waiting<Job, Result>, reason: Error): void {
    const place = this.#queue.indexOf(waiting);
    if (place !== -1) {
      this.#queue.splice(place, 1);
      waiting.failed(reason);
      return;
    }
    const thread = [...this.#threads].find(({ batch }) => batch.includes(waiting));
    if (thread !== undefined) this.#end(thread, reason);
  }

  #end(thread: Thread<Job, Result>, reason: Error): void {
    thread.reason = reason;
    this.#leaveIdle(thread);
    void thread.worker.terminate();
  }

  #leaveIdle(thread: Thread<Job, Result>): void {
    const place = this.#idle.indexOf(thread);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  /** The next job begins another one. */
  #lost(thread: Thread<Job, Result>): void {
    clearTimeout(thread.timer);
    this.#threads.delete(thread);
    this.#leaveIdle(thread);
    for (const { failed } of thread.batch) failed(thread.reason ?? new Error(STOPPED));
    this.#hand();
  }
}
