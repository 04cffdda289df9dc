// Jobs: what goes on after the request that began it, however long a node or a store is away that it needs. A job is
// never given up; what cannot be done waits, longer each time, until it can.
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { SignalName } from '../database/signals.ts';
import type { Job, JobTable } from './job-queries.ts';
import { backOff, LeasedWorker } from './leased-worker.ts';

export interface JobKind<Id extends string> {
  /** In log lines, e.g. `volumes of deleted accounts`. */
  readonly name: string;
  readonly jobs: JobTable<Id>;
  /** Sent in the transaction that adds jobs. */
  readonly wakeOn: SignalName;
  /** Jobs that one replica works on at the same time. */
  readonly slots: number;
  /** Longer than `run` takes. Another replica repeats a job whose lease has run out, so `run` can be repeated at any moment. */
  readonly leaseMilliseconds: number;
  /** Whether this core has what all of them need. Default: it has. Without it they wait. */
  readonly possible?: boolean;
  /** What it rejects with is logged as a bug, and the job is repeated when its lease has run out. */
  run(job: Job<Id>): Promise<JobOutcome>;
}

/**
 * `done`: nothing is left to do. `failed`: to be tried again after a while, longer each time. `again`: it got on, and is to be
 * continued then. A function: it is done, and this belongs to the transaction that removes it; it runs once.
 */
export type JobOutcome =
  | 'done'
  | 'failed'
  | { readonly again: Date }
  | ((trx: Transaction<DatabaseSchema>) => Promise<void>);

/** Whatever a job waits for is often back in a second, and a person who brings it back does not wait for long. */
const RETRY = { first: 1_000, longest: 600_000 };

/** A worker for all jobs of a kind, one in each replica. */
export function jobWorker<Id extends string>(context: CoreContext, kind: JobKind<Id>): LeasedWorker<Job<Id>> {
  const { database, clock } = context;
  const { name, jobs, wakeOn, slots, leaseMilliseconds, possible = true } = kind;
  async function settle({ id, attempts }: Job<Id>, outcome: JobOutcome): Promise<void> {
    if (outcome === 'done') await jobs.end(database, id);
    else if (outcome === 'failed')
      await jobs.postpone(database, id, { dueAt: new Date(clock().getTime() + backOff(context, attempts - 1, RETRY)) });
    else if (typeof outcome === 'function')
      await database.transaction().execute(async (trx) => {
        if (await jobs.end(trx, id)) await outcome(trx);
      });
    else await jobs.postpone(database, id, { dueAt: outcome.again, attempts: 0 });
  }
  return new LeasedWorker(context, {
    name,
    wakeOn,
    slots,
    leaseMilliseconds,
    claim: async ({ now, until }, atMost) => (possible ? jobs.claim(database, { now, until, atMost }) : []),
    run: async (job) => settle(job, await kind.run(job)),
    nextDue: async () => (possible ? jobs.nextDue(database) : null),
  });
}
