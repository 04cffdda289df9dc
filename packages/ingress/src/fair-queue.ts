// The requests that are under way to one node: no more than it takes at a time, and where more wait, the installations take
// turns. So one with thousands of requests does not keep those of another waiting.

/** Ends a request's stay, in the queue or under way. Idempotent. */
export type Leave = () => void;

interface Waiting {
  readonly start: () => void;
}

export class FairQueue {
  readonly #most: number;
  #running = 0;
  /** Owners in the order in which their turns come. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  /** @param most requests under way at a time */
  constructor(most: number) {
    this.#most = most;
  }

  get waiting(): number {
    let waiting = 0;
    for (const own of this.#waiting.values()) waiting += own.size;
    return waiting;
  }

  /** Calls `start` when there is a place: in a microtask, or when one gets free. */
  enter(owner: string, start: () => void): Leave {
    let isRunning = false;
    let hasLeft = false;
    const entry: Waiting = {
      start: () => {
        isRunning = true;
        start();
      },
    };
    const leave = (): void => {
      if (hasLeft) return;
      hasLeft = true;
      if (isRunning) {
        this.#running -= 1;
        this.#startNext();
      } else this.#remove(owner, entry);
    };
    if (this.#running < this.#most) {
      this.#running += 1;
      isRunning = true;
      queueMicrotask(() => {
        if (!hasLeft) start();
      });
    } else {
      const own = this.#waiting.get(owner) ?? new Set();
      own.add(entry);
      this.#waiting.set(owner, own);
    }
    return leave;
  }

  #startNext(): void {
    if (this.#running >= this.#most) return;
    for (const [owner, own] of this.#waiting) {
      for (const entry of own) {
        own.delete(entry);
        // Behind the others.
        this.#waiting.delete(owner);
        if (own.size > 0) this.#waiting.set(owner, own);
        this.#running += 1;
        entry.start();
        return;
      }
    }
  }

  #remove(owner: string, entry: Waiting): void {
    const own = this.#waiting.get(owner);
    own?.delete(entry);
    if (own?.size === 0) this.#waiting.delete(owner);
  }
}
