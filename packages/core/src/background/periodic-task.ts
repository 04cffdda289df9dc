// Sweeps of a shared database: the replica that advances the task's next run time does the work. If it dies while
// working, another replica runs the task at that next time.
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import type { Worker } from '../domain.ts';
import { namedLeaseDue, takeNamedLease } from './lease-queries.ts';
import { LeasedWorker } from './leased-worker.ts';

export interface PeriodicTaskOptions {
  /** Names the lease, so every replica uses this one. */
  readonly name: string;
  readonly everyMilliseconds: number;
  /**
   * One bounded piece of the work, which goes by this time and no clock; called again until it returns false, sweeps are
   * held, the platform stops, or another replica took over.
   */
  readonly piece: (proven: ProvenTime) => Promise<boolean>;
}

/** How often a replica looks whether it is time, as a part of the period. */
const LOOKS = 4;

export class PeriodicTask implements Worker {
  readonly #context: CoreContext;
  readonly #options: PeriodicTaskOptions;
  readonly #worker: LeasedWorker<Date>;

  constructor(context: CoreContext, options: PeriodicTaskOptions) {
    const { name, everyMilliseconds } = options;
    this.#context = context;
    this.#options = options;
    this.#worker = new LeasedWorker<Date>(context, {
      name,
      slots: 1,
      leaseMilliseconds: everyMilliseconds,
      claim: async ({ now, until }) => {
        if ((await context.time.sweep()) === null) return [];
        return (await takeNamedLease(context.pool, name, { due: now, until })) ? [until] : [];
      },
      run: async (until, _lease, stopping) => void (await this.#round(until, stopping)),
      nextDue: async () => (context.time.held() === null ? namedLeaseDue(context.pool, name) : null),
      idleMilliseconds: everyMilliseconds / LOOKS,
    });
  }

  /** Looks at once, and whenever it is due. */
  start(): void {
    this.#worker.start();
  }

  async stop(): Promise<void> {
    await this.#worker.stop();
  }

  /** Does the work if it is time and no other replica does. @returns whether it was done here, to its end */
  async run(): Promise<boolean> {
    const { pool, clock } = this.#context;
    const until = this.#next();
    if (!(await takeNamedLease(pool, this.#options.name, { due: clock(), until }))) return false;
    return this.#round(until, this.#context.stopping);
  }

  /** @returns whether it came to its end */
  async #round(held: Date, stopping: AbortSignal): Promise<boolean> {
    let until = held;
    while (!stopping.aborted) {
      const proven = await this.#context.time.sweep();
      if (proven === null) return false;
      if (!(await this.#options.piece(proven))) return true;
      const next = this.#next();
      if (!(await takeNamedLease(this.#context.pool, this.#options.name, { due: until, until: next }))) return false;
      until = next;
    }
    return false;
  }

  #next(): Date {
    return new Date(this.#context.clock().getTime() + this.#options.everyMilliseconds);
  }
}
