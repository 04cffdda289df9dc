// How often each client may ask each app: a token bucket for every pair, in bounded memory.

export interface BucketOptions {
  /** Requests per second, in the long run. */
  readonly rate: number;
  /** Requests that may come at once. */
  readonly burst: number;
  /** Pairs that are remembered. One that is forgotten begins with a full bucket. Default 65,536. */
  readonly most?: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

const MOST = 65_536;

interface Bucket {
  level: number;
  at: number;
}

export class TokenBuckets {
  readonly #options: Required<BucketOptions>;
  /** In the order of their last use, so that the first were idle longest. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: BucketOptions) {
    this.#options = { most: MOST, ...options };
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one token. @returns 0, or the seconds until there is one */
  take(pair: string): number {
    const { rate, burst, most, now } = this.#options;
    const at = now();
    const bucket = this.#buckets.get(pair) ?? { level: burst, at };
    bucket.level = Math.min(burst, bucket.level + ((at - bucket.at) / 1_000) * rate);
    bucket.at = at;
    this.#buckets.delete(pair);
    this.#buckets.set(pair, bucket);
    if (this.#buckets.size > most) this.#buckets.delete(this.#buckets.keys().next().value ?? pair);
    if (bucket.level < 1) return (1 - bucket.level) / rate;
    bucket.level -= 1;
    return 0;
  }
}
