// The thread's side of thread-pool.ts.
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/** Nicer by so much than the thread that answers requests: a third of its share, where both want the same processor. */
const NICER = 5;
const NICEST = 19;

export type JobAnswer<Result> = { readonly result: Result } | { readonly failure: string };

/** Runs the pool's jobs with `work`. Of an error only the message reaches the pool. */
export function serveJobs<Job, Result>(work: (job: Job) => Result | Promise<Result>): void {
  async function answer(job: Job): Promise<JobAnswer<Result>> {
    try {
      return { result: await work(job) };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  // On Linux, of this thread alone. Never up, which only root may do: the whole platform may have been started with `nice`.
  if (process.platform === 'linux') setPriority(Math.min(NICEST, getPriority() + NICER));
  parentPort?.on('message', async (jobs: readonly Job[]) => {
    parentPort?.postMessage(await Promise.all(jobs.map(answer)));
  });
}
