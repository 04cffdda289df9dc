// The worker thread of thread-pool.test.ts: carries out what each job describes.
import { getPriority } from 'node:os';
import { threadId } from 'node:worker_threads';
import { serveJobs } from './thread-jobs.ts';

export type TestJob =
  | { readonly kind: 'thread' }
  | { readonly kind: 'priority' }
  | { readonly kind: 'fail'; readonly why: string }
  | { readonly kind: 'pause'; readonly milliseconds: number }
  | { readonly kind: 'spin' }
  | { readonly kind: 'grow' };

serveJobs((job: TestJob) => {
  if (job.kind === 'fail') throw new Error(job.why);
  if (job.kind === 'pause') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, job.milliseconds);
  if (job.kind === 'spin') for (;;);
  if (job.kind === 'grow') for (const all: string[][] = []; ; ) all.push(Array.from({ length: 1_000 }, String));
  return job.kind === 'priority' ? getPriority() : threadId;
});
