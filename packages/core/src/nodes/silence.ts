// A limit on how long a node may keep core waiting while it sends a stream.

/** How long a node that sends a stream may say nothing. */
export class Silence {
  readonly #longest: number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(longestMilliseconds: number) {
    this.#longest = longestMilliseconds;
  }

  /** Aborted when it lasted too long. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** From now on it is waited for the node. */
  listen(): void {
    clearTimeout(this.#timer);
    if (!this.#over.signal.aborted) this.#timer = setTimeout(() => this.#over.abort(), this.#longest);
  }

  /** From now on nobody waits for the node. */
  rest(): void {
    clearTimeout(this.#timer);
  }

  /** The stream is over: what still reads of it stops. */
  end(): void {
    clearTimeout(this.#timer);
    this.#over.abort();
  }
}
