// The thread's side of thread-pool.ts.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';

/** Nice: a third of the share of the thread that answers requests, where both want the same processor. */
const PRIORITY = 5;

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

  // On Linux, of this thread alone.
  if (process.platform === 'linux') setPriority(PRIORITY);
  parentPort?.on('message', async (jobs: readonly Job[]) => {
    parentPort?.postMessage(await Promise.all(jobs.map(answer)));
  });
}
