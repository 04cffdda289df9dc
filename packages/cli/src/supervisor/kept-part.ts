// One part of the platform that is kept running: started again when it ends by itself, and given up when it cannot start.
import { setTimeout as delay } from 'node:timers/promises';

export interface Running {
  readonly pid: number;
  /** Settles when it has ended, whether asked to or not, with a sentence about how. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** For people and metrics. */
export interface PartState {
  readonly name: string;
  /** `null` while it is being started again. */
  readonly pid: number | null;
  /** ISO 8601: running, or not running, since then. */
  readonly since: string;
  readonly restarts: number;
  readonly lastExit: string | null;
}

export interface KeptPartOptions<Part extends Running> {
  readonly name: string;
  readonly start: () => Promise<Part>;
  /** Gets one line for every end and every start after it. */
  readonly log: (line: string) => void;
  readonly changed: () => void;
  /** Waits before a start. Default: a timer. */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/** No later start can succeed either: the part is given up at once, with these words. */
export class NeverAgain extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NeverAgain';
  }
}

/** Starts that fail one after the other until a part is given up. */
export const MOST_FAILURES = 5;
/** A part that ran for so long begins anew with the pauses before its starts. */
const STEADY_MILLISECONDS = 10_000;
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 2_000;

export class KeptPart<Part extends Running> {
  readonly #options: KeptPartOptions<Part>;
  readonly #stopping = new AbortController();
  readonly #gaveUp = Promise.withResolvers<string>();
  #running = Promise.withResolvers<Part>();
  #current: Part | null = null;
  #since = new Date();
  #restarts = 0;
  #lastExit: string | null = null;
  /** Ends in quick succession, failed starts included. */
  #quickEnds = 0;
  #keeping: Promise<void> = Promise.resolve();

  constructor(options: KeptPartOptions<Part>) {
    this.#options = options;
  }

  /** The first start. @throws what `start` throws: nothing is repeated before the part has run once */
  async start(): Promise<Part> {
    const part = await this.#options.start();
    this.#came(part);
    this.#keeping = this.#keep(part);
    return part;
  }

  /** Settles with a sentence when the part cannot be started any more. */
  get gaveUp(): Promise<string> {
    return this.#gaveUp.promise;
  }

  /** Resolves when it runs, at once if it does. */
  running(): Promise<Part> {
    return this.#running.promise;
  }

  /** What runs now. */
  get current(): Part | null {
    return this.#current;
  }

  get state(): PartState {
    const { name } = this.#options;
    const pid = this.#current?.pid ?? null;
    return { name, pid, since: this.#since.toISOString(), restarts: this.#restarts, lastExit: this.#lastExit };
  }

  /** From now on its end is no reason to restart it: the platform is stopping. */
  release(): void {
    this.#stopping.abort();
  }

  /** Ends it for good, also while it is being started again. */
  async stop(): Promise<void> {
    this.release();
    await this.#current?.stop();
    await this.#keeping;
  }

  async #keep(first: Part): Promise<void> {
    for (let part: Part | null = first; part !== null; part = await this.#startAgain()) {
      const since = performance.now();
      const how = await part.exited;
      this.#lastExit = how;
      this.#went();
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - since >= STEADY_MILLISECONDS) this.#quickEnds = 0;
      this.#options.log(`${how} It is being restarted.`);
    }
  }

  async #startAgain(): Promise<Part | null> {
    const { name, log, start, pause = timer } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 1; ; failures += 1) {
      await pause(
        this.#quickEnds === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (this.#quickEnds - 1), LONGEST_PAUSE),
        signal,
      );
      this.#quickEnds += 1;
      if (signal.aborted) return null;
      const begun = performance.now();
      try {
        const part = await start();
        if (signal.aborted) {
          await part.stop();
          return null;
        }
        this.#restarts += 1;
        this.#came(part);
        log(`${name} runs again after ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
        return part;
      } catch (error) {
        if (signal.aborted) return null;
        const why = error instanceof Error ? error.message : String(error);
        if (error instanceof NeverAgain) {
          this.#gaveUp.resolve(why);
          return null;
        }
        log(`${name} could not be restarted: ${why}`);
        if (failures < MOST_FAILURES) continue;
        this.#gaveUp.resolve(
          `${name} could not be restarted in ${MOST_FAILURES} attempts. The last one failed like this: ${why}`,
        );
        return null;
      }
    }
  }

  #came(part: Part): void {
    this.#current = part;
    this.#since = new Date();
    this.#running.resolve(part);
    this.#options.changed();
  }

  #went(): void {
    this.#current = null;
    this.#since = new Date();
    this.#running = Promise.withResolvers<Part>();
    this.#options.changed();
  }
}

function timer(milliseconds: number, signal: AbortSignal): Promise<void> {
  return delay(milliseconds, undefined, { signal }).catch(() => undefined);
}
