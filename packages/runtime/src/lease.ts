// The lease of this node. While it is held, core moves none of this node's workloads; before core may move them, the
// lease ends and they stop here. Counted with a monotonic clock that includes suspend.

import type { NodeLease } from '@platform/contract';
import { RemovedError } from '@platform/link';
import type { Log } from './clock.ts';
import { pause } from './pause.ts';

export interface LeaseHooks {
  /** The lease ended: what may move must stop. */
  lapsed(): void;
  /** Core does not know this node any more: everything must stop. */
  removed(): void;
}

export interface LeaseOptions {
  readonly heartbeat: (milliseconds: number, signal: AbortSignal) => Promise<NodeLease>;
  readonly uptime: () => number;
  readonly hooks: LeaseHooks;
  readonly log: Log;
}

/** A machine that slept notices within this that its lease is over. */
const CHECK = 250;
/** Before core has said how often. */
const FIRST_INTERVAL = 1_000;
const SHORTEST_PATIENCE = 2_000;

export class Lease {
  readonly #options: LeaseOptions;
  /** Uptime at which it ends; -Infinity before the first heartbeat. */
  #until = Number.NEGATIVE_INFINITY;
  #held = false;
  #interval = FIRST_INTERVAL;
  #turn = new AbortController();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Whether what may move may run here, at this moment. */
  held(): boolean {
    this.#check();
    return this.#held;
  }

  /** Aborted when the lease ends or begins again: what core said before may be of the past. */
  get turn(): AbortSignal {
    return this.#turn.signal;
  }

  /** One heartbeat. @throws Error when core did not take it */
  async beat(signal: AbortSignal): Promise<void> {
    // Counted from before the heartbeat is sent; core counts from when it arrives.
    const sent = this.#options.uptime();
    const patience = Math.max(this.#interval, SHORTEST_PATIENCE);
    const { leaseMilliseconds, heartbeatMilliseconds } = await this.#options.heartbeat(patience, signal);
    this.#interval = heartbeatMilliseconds;
    // A process that was held up stops first what it ran without a lease, and begins anew then.
    this.#check();
    const until = leaseMilliseconds === null ? Number.POSITIVE_INFINITY : sent + leaseMilliseconds;
    this.#until = Math.max(this.#until, until);
    if (this.#held || this.#options.uptime() >= this.#until) return;
    this.#held = true;
    this.#next();
  }

  /** Sends heartbeats until `signal` is aborted. */
  async keep(signal: AbortSignal): Promise<void> {
    const checks = setInterval(() => this.#check(), CHECK);
    checks.unref();
    while (!signal.aborted) {
      await pause(this.#interval, signal);
      if (signal.aborted) break;
      try {
        await this.beat(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#options.log.debug({ err: error }, 'a heartbeat did not reach core');
        if (error instanceof RemovedError) this.#remove();
      }
    }
    clearInterval(checks);
  }

  #check(): void {
    if (!this.#held || this.#options.uptime() < this.#until) return;
    this.#held = false;
    this.#options.log.warn(
      {},
      'the lease ended without an answer from core; stopping the workloads that core may move',
    );
    this.#options.hooks.lapsed();
    this.#next();
  }

  #remove(): void {
    this.#held = false;
    this.#until = Number.NEGATIVE_INFINITY;
    this.#options.log.error({}, 'this machine was removed from the platform; stopping all workloads');
    this.#options.hooks.removed();
    this.#next();
  }

  #next(): void {
    const former = this.#turn;
    this.#turn = new AbortController();
    former.abort();
  }
}
