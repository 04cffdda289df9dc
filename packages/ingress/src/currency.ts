// For how long an Ingress may go by what core said last. While it is cut off it serves what it knows, so that a restart of
// core closes no app; but a grant that was revoked meanwhile must not stay open for ever (docs/operations/public.md).
import { uptime } from 'node:os';

/** After the last line of the topology stream; one comes every ten seconds. */
const CURRENT_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 1_000;

/** In which Linux counts for how long it runs. */
const BOOT_CLOCK_STEP_MILLISECONDS = 10;

/**
 * Milliseconds since the machine started, sleep included. Every request asks, and each answer of Linux is the text of a
 * file, so it is read once in a step.
 */
export function openBootClock(): () => number {
  let milliseconds = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - readAt >= BOOT_CLOCK_STEP_MILLISECONDS) {
      readAt = now;
      milliseconds = uptime() * 1_000;
    }
    return milliseconds;
  };
}

export interface CurrencyOptions {
  /** Milliseconds since some moment, going on while the machine sleeps. */
  readonly uptime: () => number;
  /** What is known is too old to go by: what is under way has to end. */
  lapsed(): void;
}

export class Currency {
  readonly #uptime: () => number;
  readonly #timer: NodeJS.Timeout;
  #confirmedAt: number | null = null;

  constructor({ uptime, lapsed }: CurrencyOptions) {
    this.#uptime = uptime;
    this.#timer = setInterval(() => {
      if (this.#confirmedAt === null || this.isCurrent()) return;
      this.#confirmedAt = null;
      lapsed();
    }, LOOK_MILLISECONDS);
  }

  /** Core has just said that what is known counts. */
  confirm(): void {
    this.#confirmedAt = this.#uptime();
  }

  isCurrent(): boolean {
    return this.#confirmedAt !== null && this.#uptime() - this.#confirmedAt < CURRENT_MILLISECONDS;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
