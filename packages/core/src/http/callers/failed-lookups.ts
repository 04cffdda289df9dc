// How often one client address may name what does not exist: unknown credentials and app hosts are looked up in the
// database before anybody knows who asks, so no other rate holds for them.
import { limits, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import type { Rates } from '../../config/rates.ts';

const WINDOW_MILLISECONDS = 60_000;
/** Enough for every address that is active; the ones forgotten first were idle longest. */
const ADDRESSES = 100_000;

interface Failures {
  count: number;
  readonly until: number;
}

export class FailedLookups {
  readonly #ofNetwork = new LRUCache<string, Failures>({ max: ADDRESSES });
  readonly #clock: () => Date;
  readonly #most: number;

  /** @param rates a higher or lower rate of sign-ins raises or lowers this one as well */
  constructor({ rates, clock }: { readonly rates: Pick<Rates, 'authentication'>; readonly clock: () => Date }) {
    this.#clock = clock;
    this.#most = (limits.unknownLookups.value * rates.authentication.perMinute) / limits.authenticationRate.value;
  }

  /**
   * Looks something up for a client, and counts it where it is not found.
   *
   * @param network of the client (`clientNetwork`)
   * @throws RefusalError `rate_limited` instead of looking, once too much was not found within a minute
   */
  async look<Found>(network: string, find: () => Promise<Found | null>): Promise<Found | null> {
    const failures = this.#failuresOf(network);
    if (failures.count >= this.#most) {
      const retryAfter = (failures.until - this.#clock().getTime()) / 1_000;
      throw refuse('rate_limited', 'Too many unknown credentials or addresses came from here.', { retryAfter });
    }
    // Counted while it is looked up, so that many at once are no way around.
    failures.count += 1;
    let isUnknown = false;
    try {
      const found = await find();
      isUnknown = found === null;
      return found;
    } finally {
      // A look-up that failed says nothing about the client.
      if (!isUnknown) failures.count -= 1;
    }
  }

  #failuresOf(network: string): Failures {
    const now = this.#clock().getTime();
    const known = this.#ofNetwork.get(network);
    if (known !== undefined && now < known.until && now >= known.until - WINDOW_MILLISECONDS) return known;
    const fresh = { count: 0, until: now + WINDOW_MILLISECONDS };
    this.#ofNetwork.set(network, fresh);
    return fresh;
  }
}
