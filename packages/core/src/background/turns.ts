// Lets few things happen at the same time for one party, and so many in sum: what comes on top waits its turn for a
// while, the parties alternating, or is refused.
import { refuse } from '@platform/contract';

export interface TurnRules {
  /** At a time for one key. */
  readonly ofKey: number;
  /** At a time for all keys. Default: as many as the keys make. */
  readonly inAll?: number;
  /** That wait, for one key. One more is refused at once. */
  readonly waiting: number;
  /** How long one waits before it is refused. */
  readonly milliseconds: number;
  /** Said in the refusal: what there is too much of, and what to do. */
  readonly detail: string;
}

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
}

/** Makes room again. Calling it a second time does nothing. */
export type EndTurn = () => void;

export class Turns {
  readonly #rules: TurnRules;
  readonly #held = new Map<string, number>();
  /** Keys in the order in which they are served next. */
  readonly #waiting = new Map<string, Waiting[]>();
  #inAll = 0;

  constructor(rules: TurnRules) {
    this.#rules = rules;
  }

  /**
   * Waits until it is the key's turn.
   *
   * @param signal gives up waiting, and rejects with its reason
   * @param milliseconds how long it waits. Default: as the rules say
   * @throws RefusalError `concurrency_limited`
   */
  async take(key: string, signal?: AbortSignal, milliseconds = this.#rules.milliseconds): Promise<EndTurn> {
    signal?.throwIfAborted();
    if (this.#hasRoom(key)) return this.#begin(key);
    const queue = this.#waiting.get(key) ?? [];
    if (queue.length >= this.#rules.waiting) throw this.#refusal();
    this.#waiting.set(key, queue);
    const { promise, resolve, reject } = Promise.withResolvers<EndTurn>();
    const own: Waiting = { go: () => resolve(this.#begin(key)), fail: reject };
    queue.push(own);
    // A process that was busy has not looked yet whether there is room again: it does so before the check.
    const late = setTimeout(() => setImmediate(() => this.#giveUp(key, own, this.#refusal())), milliseconds);
    const abort = (): void => this.#giveUp(key, own, signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Runs `work` when it is the key's turn. */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const end = await this.take(key, signal);
    try {
      return await work();
    } finally {
      end();
    }
  }

  #refusal(): Error {
    return refuse('concurrency_limited', this.#rules.detail, { retryAfter: 1 });
  }

  #hasRoom(key: string): boolean {
    const { ofKey, inAll = Number.POSITIVE_INFINITY } = this.#rules;
    return this.#inAll < inAll && (this.#held.get(key) ?? 0) < ofKey;
  }

  #begin(key: string): EndTurn {
    this.#inAll += 1;
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#inAll -= 1;
      const left = (this.#held.get(key) ?? 1) - 1;
      if (left === 0) this.#held.delete(key);
      else this.#held.set(key, left);
      this.#next();
    };
  }

  /** The key that was served last comes last. */
  #next(): void {
    for (const [key, queue] of this.#waiting) {
      if (!this.#hasRoom(key)) continue;
      const next = queue.shift();
      this.#waiting.delete(key);
      if (queue.length > 0) this.#waiting.set(key, queue);
      next?.go();
      return;
    }
  }

  #giveUp(key: string, own: Waiting, reason: unknown): void {
    const queue = this.#waiting.get(key);
    const place = queue?.indexOf(own) ?? -1;
    if (queue === undefined || place === -1) return;
    queue.splice(place, 1);
    if (queue.length === 0) this.#waiting.delete(key);
    own.fail(reason);
  }
}
