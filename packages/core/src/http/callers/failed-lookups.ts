// How often one client address may name what does not exist: unknown credentials, launches and app hosts are looked up in the
// database before anybody knows who asks, so no other rate holds for them. What exists is found all the same: a client
// behind the address of one that guesses, or in whose browser a page does, waits for a moment and is not refused.
import { limits, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import { Turns } from '../../background/turns.ts';
import type { Rates } from '../../config/rates.ts';

const WINDOW_MILLISECONDS = 60_000;
/** Enough for every address that is active; the ones forgotten first were idle longest. */
const ADDRESSES = 100_000;
/** Look-ups of an address that has named too much, one after the other; a millisecond or two for each. */
const WAITING = 64;
const PATIENCE_MILLISECONDS = 2_000;

/** Unknown credentials, or app hosts: a higher or lower rate of sign-ins raises or lowers them as well. */
export function unknownLookups({ authentication }: Pick<Rates, 'authentication'>): number {
  return (limits.unknownLookups.value * authentication.perMinute) / limits.authenticationRate.value;
}

interface Failures {
  count: number;
  readonly until: number;
}

export class FailedLookups {
  readonly #ofNetwork = new LRUCache<string, Failures>({ max: ADDRESSES });
  readonly #clock: () => Date;
  readonly #most: number;
  readonly #turns = new Turns({
    ofKey: 1,
    waiting: WAITING,
    milliseconds: PATIENCE_MILLISECONDS,
    detail: 'Too many unknown credentials or addresses came from here. Wait a moment.',
  });

  /** @param most that one network may name within a minute and that is not found */
  constructor({ most, clock }: { readonly most: number; readonly clock: () => Date }) {
    this.#clock = clock;
    this.#most = most;
  }

  /**
   * Looks something up for a client, and counts it where it is not found.
   *
   * @param network of the client (`clientNetwork`)
   * @throws RefusalError once too much was not found within a minute: `rate_limited` for what is not found either, and
   *   `concurrency_limited` instead of looking, where 64 others of the network wait for it
   */
  async look<Found>(network: string, find: () => Promise<Found | null>): Promise<Found | null> {
    const failures = this.#failuresOf(network);
    if (failures.count >= this.#most) return this.#lookInTurn(network, failures, find);
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

  async #lookInTurn<Found>(network: string, failures: Failures, find: () => Promise<Found | null>): Promise<Found> {
    const endTurn = await this.#turns.take(network);
    try {
      const found = await find();
      if (found !== null) return found;
    } finally {
      endTurn();
    }
    const retryAfter = (failures.until - this.#clock().getTime()) / 1_000;
    throw refuse('rate_limited', 'Too many unknown credentials or addresses came from here.', { retryAfter });
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
