// Background work that all replicas share. Each replica has a worker, which a signal wakes and which claims due work
// under a lease; when a worker is killed, another claims its work after the lease has expired. No transaction is open
// while work waits for anything but the database.
import type { CoreContext } from '../context.ts';
import type { SignalName } from '../database/signals.ts';
import type { Worker } from '../domain.ts';

export interface Lease {
  /** Of this claim alone. */
  readonly id: string;
  readonly now: Date;
  /** From then on another worker may claim the same. */
  readonly until: Date;
}

export interface LeasedWork<Item> {
  /** In log lines, e.g. `web push`. */
  readonly name: string;
  /** Sent when there may be something due. Without one it is looked for again and again. */
  readonly wakeOn?: SignalName;
  /** Items that one replica works on at the same time. */
  readonly slots: number;
  readonly leaseMilliseconds: number;
  /**
   * Leases what is due and not leased, at most so many: one statement that skips what another replica is claiming
   * (`FOR UPDATE SKIP LOCKED`, or a named lease).
   */
  claim(lease: Lease, atMost: number): Promise<readonly Item[]>;
  /**
   * Works on one item and gives its lease back. Should it reject, that is logged, and the item is claimed again when
   * its lease has run out.
   *
   * @param stopping fires when no further piece of it should be begun
   */
  run(item: Item, lease: Lease, stopping: AbortSignal): Promise<void>;
  /** When the next item can be claimed; `null` when nothing waits. */
  nextDue(): Promise<Date | null>;
  /** Without a signal, a look at what is due happens this often. Milliseconds, default 15,000. */
  readonly idleMilliseconds?: number;
  /** Milliseconds that items may take to end at a stop, default 3,000. */
  readonly graceMilliseconds?: number;
  /** Ends what items still wait for. Called at a stop, after the grace. */
  abort?(): void;
  /** Called at a stop, when no item is worked on any more. */
  close?(): Promise<void>;
}

const IDLE_MILLISECONDS = 15_000;
const SHORTEST_WAIT_MILLISECONDS = 25;
const GRACE_MILLISECONDS = 3_000;
const FIRST_RETRY_MILLISECONDS = 1_000;
const LONGEST_RETRY_MILLISECONDS = 30_000;

/**
 * Milliseconds until something is tried again that failed `failures` times before: doubled each time, and between half
 * and all of that, so that what failed together does not come back together.
 */
export function backOff(
  { random }: Pick<CoreContext, 'random'>,
  failures: number,
  { first, longest }: { readonly first: number; readonly longest: number },
): number {
  const share = 0.5 + random(2).readUInt16BE() / 131_072;
  return Math.min(first * 2 ** Math.min(failures, 20), longest) * share;
}

export class LeasedWorker<Item> implements Worker {
  readonly #context: CoreContext;
  readonly #work: LeasedWork<Item>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #pumping: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(context: CoreContext, work: LeasedWork<Item>) {
    this.#context = context;
    this.#work = work;
  }

  start(): void {
    const { wakeOn } = this.#work;
    if (wakeOn !== undefined) this.#unsubscribe = this.#context.signals.on(wakeOn, () => this.#wake());
    this.#wake();
  }

  /** Lets items under way end for a while, then ends what they wait for. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stopping.abort();
    clearTimeout(this.#timer);
    const { graceMilliseconds = GRACE_MILLISECONDS } = this.#work;
    const impatient = setTimeout(() => this.#work.abort?.(), graceMilliseconds);
    await this.#pumping;
    await Promise.all(this.#running);
    clearTimeout(impatient);
    await this.#work.close?.();
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  #wake(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = undefined;
      // Woken while it was about to go to sleep.
      if (this.#again) this.#wake();
    });
  }

  async #pump(): Promise<void> {
    clearTimeout(this.#timer);
    const { slots, name } = this.#work;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        // With few slots free it waits for more: a claim costs the same for one and for many.
        if (this.#running.size > slots / 2) return;
        if (await this.#claim()) this.#again = true;
        this.#failures = 0;
      }
      await this.#sleep();
    } catch (error) {
      if (this.#stopped) return;
      this.#context.log.warn({ err: error, work: name }, 'background work could not be claimed; it is tried again');
      const retry = { first: FIRST_RETRY_MILLISECONDS, longest: LONGEST_RETRY_MILLISECONDS };
      this.#again = false;
      this.#sleepFor(backOff(this.#context, this.#failures, retry));
      this.#failures += 1;
    }
  }

  async #sleep(): Promise<void> {
    const { idleMilliseconds = IDLE_MILLISECONDS } = this.#work;
    const due = await this.#work.nextDue();
    const wait = due === null ? idleMilliseconds : due.getTime() - this.#context.clock().getTime();
    this.#sleepFor(Math.min(Math.max(wait, SHORTEST_WAIT_MILLISECONDS), idleMilliseconds));
  }

  #sleepFor(milliseconds: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#wake(), milliseconds);
  }

  /** @returns whether there may be more */
  async #claim(): Promise<boolean> {
    const { clock, random } = this.#context;
    const { slots, leaseMilliseconds } = this.#work;
    const now = clock();
    const until = new Date(now.getTime() + leaseMilliseconds);
    const lease: Lease = { id: random(12).toString('base64url'), now, until };
    const atMost = slots - this.#running.size;
    const items = await this.#work.claim(lease, atMost);
    for (const item of items) this.#begin(item, lease);
    return items.length === atMost;
  }

  #begin(item: Item, lease: Lease): void {
    const { log } = this.#context;
    const running = this.#work
      .run(item, lease, this.#stopping.signal)
      .catch((error: unknown) => {
        if (!this.#stopped) log.error({ err: error, work: this.#work.name }, 'background work failed');
      })
      .finally(() => {
        this.#running.delete(running);
        this.#wake();
      });
    this.#running.add(running);
  }
}
