// The same three steps as jobs of graphile-worker: each adds the job of the next one.
import { createRequire } from 'node:module';
import { type RunsOrder, serveOrders, timed } from './programs.ts';

interface Helpers {
  addJob(name: string, payload: object): Promise<unknown>;
}
type Task = (payload: never, helpers: Helpers) => Promise<void>;
interface Runner {
  addJob(name: string, payload: object): Promise<unknown>;
  readonly events: { on(event: 'job:complete', listener: (completed: { job: Job; error: unknown }) => void): void };
  stop(): Promise<void>;
}
interface Job {
  readonly task_identifier: string;
  readonly payload: { readonly run: number };
}
interface GraphileWorker {
  run(options: {
    readonly connectionString: string;
    readonly concurrency: number;
    readonly noHandleSignals: boolean;
    readonly taskList: Readonly<Record<string, Task>>;
    readonly logger: unknown;
  }): Promise<Runner>;
  readonly Logger: new (factory: () => () => void) => unknown;
}

const [folder = '', connectionString = ''] = process.argv.slice(2);
const { run: startWorker, Logger } = createRequire(folder)('graphile-worker') as GraphileWorker;
const AT_ONCE = 16;

const worker = await startWorker({
  connectionString,
  concurrency: AT_ONCE,
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  taskList: {
    reserve: ({ run, cents }: { run: number; cents: number }, { addJob }) =>
      addJob('pay', { run, seat: cents > 0 ? 7 : 0 }).then(() => undefined),
    pay: ({ run, seat }: { run: number; seat: number }, { addJob }) =>
      addJob('mail', { run, receipt: `r-${seat}` }).then(() => undefined),
    mail: async () => undefined,
  },
});
const waiting = new Map<number, { resolve(): void; reject(error: unknown): void }>();
// By then the worker has begun to remove the job; it does not say when it has.
worker.events.on('job:complete', ({ job, error }) => {
  if (error) waiting.get(job.payload.run)?.reject(error);
  else if (job.task_identifier === 'mail') waiting.get(job.payload.run)?.resolve();
});
let runs = 0;

async function run(): Promise<void> {
  runs += 1;
  const own = runs;
  const ended = new Promise<void>((resolve, reject) => waiting.set(own, { resolve, reject }));
  await worker.addJob('reserve', { run: own, cents: 990 });
  await ended;
  waiting.delete(own);
}

await serveOrders<RunsOrder, number>((order) => timed(order, run));
await worker.stop();
