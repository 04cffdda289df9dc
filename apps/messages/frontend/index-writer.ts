// Writes what the search finds, a while after it changed, and again after a failure until it is written: what was not taken is not
// lost because nothing changes any more.

/** News come in bursts. */
const PAUSE_MS = 2_000;
const FIRST_RETRY_MS = 20_000;
const LONGEST_RETRY_MS = 600_000;

/** Calls back after these milliseconds. @returns what prevents it */
export type Later = (work: () => void, milliseconds: number) => () => void;

const later: Later = (work, milliseconds) => {
  const timer = setTimeout(work, milliseconds);
  return () => clearTimeout(timer);
};

export class IndexWriter<Entry> {
  readonly #write: (entries: readonly Entry[]) => Promise<unknown>;
  readonly #later: Later;
  #wanted: readonly Entry[] | undefined;
  /** As it was written last; `undefined` while nobody knows. */
  #written: string | undefined;
  #failures = 0;
  #isWriting = false;
  #stop: () => void = () => undefined;

  constructor(write: (entries: readonly Entry[]) => Promise<unknown>, schedule = later) {
    this.#write = write;
    this.#later = schedule;
  }

  want(entries: readonly Entry[]): void {
    if (this.#wanted !== undefined && JSON.stringify(entries) === JSON.stringify(this.#wanted)) return;
    this.#wanted = entries;
    this.#failures = 0;
    this.#next(PAUSE_MS);
  }

  /** The platform has just answered: what failed before may succeed now. */
  tryNow(): void {
    if (this.#failures > 0) this.#next(PAUSE_MS);
  }

  end(): void {
    this.#stop();
    this.#wanted = undefined;
  }

  #next(milliseconds: number): void {
    this.#stop();
    this.#stop = this.#later(() => void this.#flush(), milliseconds);
  }

  async #flush(): Promise<void> {
    const entries = this.#wanted;
    const text = JSON.stringify(entries);
    if (entries === undefined || this.#isWriting || text === this.#written) return;
    this.#isWriting = true;
    // Half of it may be there after a failure.
    this.#written = undefined;
    const isWritten = await this.#write(entries).then(
      () => true,
      () => false,
    );
    this.#isWriting = false;
    if (isWritten) this.#written = text;
    this.#failures = isWritten ? 0 : this.#failures + 1;
    if (this.#wanted === undefined) return;
    if (!isWritten) this.#next(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1)));
    else if (JSON.stringify(this.#wanted) !== text) this.#next(PAUSE_MS);
  }
}
