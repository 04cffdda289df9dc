// The thread's side of thread-pool.ts.
import { parentPort } from 'node:worker_threads';

export type JobAnswer<Result> = { readonly result: Result } | { readonly failure: string };

/** Does what the pool hands over with `work`. What that throws is told by its message alone. */
export function serveJobs<Job, Result>(work: (job: Job) => Result | Promise<Result>): void {
  async function answer(job: Job): Promise<JobAnswer<Result>> {
    try {
      return { result: await work(job) };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  }

  parentPort?.on('message', async (jobs: readonly Job[]) => {
    parentPort?.postMessage(await Promise.all(jobs.map(answer)));
  });
}
