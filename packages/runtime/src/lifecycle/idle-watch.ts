// Decides when a running workload goes to sleep: its idle delay after the last signal ended (specification 3). Signals
// are requests of either direction, and work leases, which core keeps and is asked for before anything is stopped.
import type { Clock, Log } from '../clock.ts';

export interface IdleWatchOptions {
  readonly idleMilliseconds: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether a request of either direction is under way. */
  readonly isBusy: () => boolean;
  /** Milliseconds until the last work lease ends, negative when it has; null when there was none. */
  readonly leasesEndIn: () => Promise<number | null>;
  /** Called at most once, when nothing has kept the workload awake for the idle delay. */
  readonly onIdle: () => void;
}

/** When core does not answer, the workload stays awake, and the request is repeated after this time. */
const RETRY_MILLISECONDS = 10_000;

export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #lastSignal: number;
  /** Number of signals: shows whether one arrived during the request to core, independent of the clock. */
  #signals = 0;
  #cancel = () => {};
  #ended = false;
  /** Waiting for the end of a lease; the next signal may be its release, so core is queried again sooner. */
  #leased = false;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#lastSignal = options.clock.elapsed();
    this.#lookAfter(options.idleMilliseconds);
  }

  /** A request began or ended. */
  signal(): void {
    this.#lastSignal = this.#options.clock.elapsed();
    this.#signals += 1;
    if (!this.#leased) return;
    this.#leased = false;
    this.#lookAfter(this.#options.idleMilliseconds);
  }

  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #lookAfter(milliseconds: number): void {
    this.#cancel();
    if (!this.#ended) this.#cancel = this.#options.clock.after(milliseconds, () => this.#look());
  }

  #look(): void {
    const { clock, idleMilliseconds, isBusy } = this.#options;
    const quiet = clock.elapsed() - this.#lastSignal;
    this.#leased = false;
    if (isBusy()) this.#lookAfter(idleMilliseconds);
    else if (quiet < idleMilliseconds) this.#lookAfter(idleMilliseconds - quiet);
    else void this.#askForLeases();
  }

  async #askForLeases(): Promise<void> {
    const { idleMilliseconds, isBusy, leasesEndIn, log, onIdle } = this.#options;
    const signals = this.#signals;
    let endIn: number | null;
    try {
      endIn = await leasesEndIn();
    } catch (error) {
      log.debug({ err: error }, 'work leases could not be read from core; the workload stays awake');
      this.#lookAfter(RETRY_MILLISECONDS);
      return;
    }
    if (this.#ended) return;
    if (isBusy() || signals !== this.#signals) this.#look();
    else if (endIn !== null && endIn + idleMilliseconds > 0) {
      this.#leased = true;
      this.#lookAfter(endIn + idleMilliseconds);
    } else {
      this.end();
      onIdle();
    }
  }
}
