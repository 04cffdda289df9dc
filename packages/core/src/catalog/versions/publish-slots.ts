// How many packages may be received at the same time: each may fill half a gigabyte of disk before it is refused. The
// places are shared by accounts, and an account that holds one without using it gives it up to an account that has none.
import { limits, type Refusal, RefusalError, refuse } from '@platform/contract';

/** An upload that holds a place. */
export interface HeldUpload {
  /** Bytes that have arrived. */
  bytes(): number;
  /** Whether more has arrived than was read: then it is not the sender who is slow. */
  isAhead(): boolean;
  /** Whether all of it is here: what follows is core's work. */
  hasArrived(): boolean;
  /** Refuses the rest of it. */
  end(refusal: Refusal): void;
}

interface Place {
  readonly accountKey: string;
  readonly upload: HeldUpload;
  readonly since: number;
  /** Why it ended early. */
  ended?: Refusal;
}

/** An upload is not judged by its first moments. */
const GRACE_MILLISECONDS = 10_000;
const RETRY_SECONDS = 5;

export class PublishSlots {
  readonly #places = new Set<Place>();
  readonly #now: () => number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Holds a place while `work` runs. When all are taken, an account that has none takes one over: the newer upload of an
   * account that has two, or else the slowest of those below `limits.publishFairRate`.
   *
   * @param work is handed what throws once the place was taken over: to be asked before anything takes effect
   * @throws RefusalError `concurrency_limited` when the account, or all accounts together, publish too much at once
   */
  async hold<Result>(
    accountKey: string,
    upload: HeldUpload,
    work: (stillHeld: () => void) => Promise<Result>,
  ): Promise<Result> {
    const own = this.#of(accountKey).length;
    if (own >= limits.publishesPerAccount.value)
      throw refuse('concurrency_limited', 'You are publishing other packages. Wait for one to finish.', {
        retryAfter: RETRY_SECONDS,
      });
    if (this.#places.size >= limits.publishes.value) {
      const given = own === 0 ? (this.#secondPlace() ?? this.#slowest()) : undefined;
      if (given === undefined)
        throw refuse('concurrency_limited', 'Other accounts are publishing packages. Try again in a moment.', {
          retryAfter: RETRY_SECONDS,
        });
      this.#takeOver(given);
    }
    const place: Place = { accountKey, upload, since: this.#now() };
    this.#places.add(place);
    try {
      return await work(() => {
        if (place.ended !== undefined) throw new RefusalError(place.ended);
      });
    } finally {
      this.#places.delete(place);
    }
  }

  #of(accountKey: string): readonly Place[] {
    return [...this.#places].filter((place) => place.accountKey === accountKey);
  }

  #takeOver(place: Place): void {
    this.#places.delete(place);
    place.ended = {
      code: 'concurrency_limited',
      detail:
        'All places for publishing are taken, and this upload gave its place to an account that had none. Try again.',
      retryAfter: RETRY_SECONDS,
    };
    place.upload.end(place.ended);
  }

  /** The newest one, of which least is lost. */
  #secondPlace(): Place | undefined {
    return [...this.#places].findLast(
      ({ accountKey, upload }) => !upload.hasArrived() && this.#of(accountKey).length > 1,
    );
  }

  #slowest(): Place | undefined {
    const now = this.#now();
    const rateOf = ({ upload, since }: Place): number => (upload.bytes() * 1_000) / (now - since);
    return [...this.#places]
      .filter(({ upload, since }) => now - since >= GRACE_MILLISECONDS && !upload.hasArrived() && !upload.isAhead())
      .filter((place) => rateOf(place) < limits.publishFairRate.value)
      .toSorted((one, other) => rateOf(one) - rateOf(other))[0];
  }
}
