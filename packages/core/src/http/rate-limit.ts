// Token buckets, one for each caller and kind of route, that hold for all replicas together: a replica takes a few
// tokens at a time from the bucket in the database and spends them in memory, so most requests ask nobody.
import { type RateLimitName, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import type { Rates } from '../config/rates.ts';
import type { BucketRequest, Taken } from './rate-buckets.ts';

/** Tokens that a replica holds of one bucket, and what it last heard of it. */
interface Purse {
  tokens: number;
  takenAt: number;
  /** The bucket was empty then. */
  refusedAt: number;
  /** When it has a token again. */
  refusedUntil: number;
  /** More tokens are on their way. */
  coming: Promise<void> | null;
}

/** Enough for every active caller of a replica; the purse forgotten first was idle longest. */
const PURSES = 100_000;
/** A replica takes this part of a burst at a time: so much of it may lie unused in every other replica. */
const PART_OF_BURST = 20;
/** Tokens that were not spent by then go back, so that no replica saves them up beside a full bucket. */
const KEEP_MILLISECONDS = 5_000;

/** @returns `undefined` when the request may pass at once, else a promise that says so */
export type TakeRate = (name: RateLimitName, subject: string) => Promise<void> | undefined;

export interface RateLimiterOptions {
  readonly rates: Rates;
  readonly clock: () => Date;
  readonly takeFromBucket: (request: BucketRequest) => Promise<Taken>;
}

export function rateLimiter({ rates, clock, takeFromBucket }: RateLimiterOptions): TakeRate {
  const purses = new LRUCache<string, Purse>({ max: PURSES });

  function purseOf(key: string): Purse {
    const known = purses.get(key);
    if (known !== undefined) return known;
    const purse = { tokens: 0, takenAt: 0, refusedAt: 0, refusedUntil: 0, coming: null };
    purses.set(key, purse);
    return purse;
  }

  /** @throws RefusalError `rate_limited` with the seconds until the next token */
  function spend(purse: Purse): boolean {
    const now = clock().getTime();
    if (now >= purse.refusedAt && now < purse.refusedUntil)
      throw refuse('rate_limited', undefined, { retryAfter: (purse.refusedUntil - now) / 1_000 });
    if (purse.tokens < 1 || now < purse.takenAt || now >= purse.takenAt + KEEP_MILLISECONDS) return false;
    purse.tokens -= 1;
    return true;
  }

  async function fill(purse: Purse, kind: keyof Rates, subject: string): Promise<void> {
    const rate = rates[kind];
    const now = clock();
    const returned = purse.tokens;
    purse.tokens = 0;
    const wanted = Math.max(1, Math.floor(rate.burst / PART_OF_BURST));
    const { taken, left } = await takeFromBucket({ kind, subject, rate, wanted, returned, now });
    purse.tokens = taken;
    purse.takenAt = now.getTime();
    if (taken > 0) return;
    purse.refusedAt = now.getTime();
    purse.refusedUntil = now.getTime() + Math.ceil(((1 - left) * 60_000) / rate.perMinute);
  }

  async function spendNext(purse: Purse, kind: keyof Rates, subject: string): Promise<void> {
    do {
      purse.coming ??= fill(purse, kind, subject).finally(() => {
        purse.coming = null;
      });
      await purse.coming;
    } while (!spend(purse));
  }

  return function take(name, subject) {
    if (name === 'none') return undefined;
    const purse = purseOf(`${name}\0${subject}`);
    return spend(purse) ? undefined : spendNext(purse, name, subject);
  };
}
