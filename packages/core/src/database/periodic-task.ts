// Housekeeping on a shared database: every replica has the timer, and the one that moves the task's time on does the
// work. One that dies in the middle is followed by whoever looks next.
import type { CoreContext } from '../context.ts';

export interface PeriodicTaskOptions {
  /** The same in every replica. */
  readonly name: string;
  readonly everyMilliseconds: number;
  /**
   * One bounded piece of the work; called again until it returns false, the platform stops, or another replica took
   * over.
   */
  readonly piece: () => Promise<boolean>;
}

/** How often a replica looks whether it is time, as a part of the period. */
const LOOKS = 4;

export class PeriodicTask {
  readonly #context: CoreContext;
  readonly #options: PeriodicTaskOptions;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(context: CoreContext, options: PeriodicTaskOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Looks at once, and from then on again and again. */
  start(): void {
    if (this.#stopped) return;
    this.#work = this.run()
      .catch((error: unknown) => {
        if (!this.#stopped)
          this.#context.log.warn({ err: error, task: this.#options.name }, 'housekeeping did not get to its end');
      })
      .finally(() => {
        if (this.#stopped) return;
        this.#timer = setTimeout(() => this.start(), this.#options.everyMilliseconds / LOOKS);
        this.#timer.unref();
      });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#work;
  }

  /** Does the work if it is time and no other replica does. @returns whether it was done here, to its end */
  async run(): Promise<boolean> {
    let until = await this.#move(this.#context.clock());
    while (until !== null && !this.#stopped) {
      if (!(await this.#options.piece())) return true;
      until = await this.#move(until);
    }
    return false;
  }

  /** @returns when the task is due next, `null` when it is not due yet or another replica has taken it */
  async #move(due: Date): Promise<Date | null> {
    const { pool, clock } = this.#context;
    const { name, everyMilliseconds } = this.#options;
    const next = new Date(clock().getTime() + everyMilliseconds);
    const { rows } = await pool.query<{ next_at: Date }>(
      `INSERT INTO periodic_tasks AS task (name, next_at) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET next_at = $2 WHERE task.next_at <= $3 RETURNING next_at`,
      [name, next, due],
    );
    return rows[0]?.next_at ?? null;
  }
}
