// Capabilities that come from addresses which guess: a rightful client behind such an address is still let in, and whoever guesses
// costs core no more than a question for all of them now and then.
import type { Clock } from '../clock.ts';

/** One question for all that came since the last one; no more often than this. */
const EVERY_MILLISECONDS = 250;

interface Waiting {
  readonly address: string;
  readonly settle: (valid: Promise<boolean>) => void;
}

export interface DoubtfulOptions {
  readonly clock: Clock;
  /** As many as one question may be about; further ones are not asked about. */
  readonly most: number;
  /** Asks about all of them at once. @returns which are valid */
  readonly ask: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
}

export class Doubtful {
  readonly #options: DoubtfulOptions;
  readonly #waiting = new Map<string, Waiting>();
  #isAsking = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DoubtfulOptions) {
    this.#options = options;
  }

  /**
   * Whether a capability is valid. Of too many that wait, those of the address with the most are not asked about, and count as not
   * valid.
   */
  ask(hash: string, address: string): Promise<boolean> {
    if (this.#waiting.size >= this.#options.most && !this.#makeRoom(address)) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.set(hash, { address, settle: resolve });
    this.#askSoon();
    return promise;
  }

  /** @returns false when the address that asks has the most itself */
  #makeRoom(address: string): boolean {
    const byAddress = Map.groupBy(this.#waiting, ([, waiting]) => waiting.address);
    const [most = []] = [...byAddress.values()].sort((one, other) => other.length - one.length);
    const newest = most.at(-1);
    if (newest === undefined || most.length <= (byAddress.get(address)?.length ?? 0)) return false;
    const [hash, { settle }] = newest;
    this.#waiting.delete(hash);
    settle(Promise.resolve(false));
    return true;
  }

  #askSoon(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { clock } = this.#options;
    const passed = clock.elapsed() - this.#askedAt;
    if (passed >= EVERY_MILLISECONDS) void this.#askAll();
    else clock.after(EVERY_MILLISECONDS - passed, () => void this.#askAll());
  }

  async #askAll(): Promise<void> {
    // What comes in the same turn is asked about together.
    await Promise.resolve();
    const asked = new Map(this.#waiting);
    this.#waiting.clear();
    this.#askedAt = this.#options.clock.elapsed();
    const valid = this.#options.ask([...asked.keys()]);
    for (const [hash, { settle }] of asked) settle(valid.then((all) => all.has(hash)));
    await valid.catch(() => undefined);
    this.#isAsking = false;
    if (this.#waiting.size > 0) this.#askSoon();
  }
}
