// Token buckets, one for each caller and kind of route, that hold for all replicas together: a replica takes a few
// tokens at a time from the bucket in the database and spends them in memory, so most requests need no query.
import { type RateLimitName, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import type { Rates } from '../../config/rates.ts';
import type { BucketRequest, Taken } from './rate-buckets.ts';

/** Tokens that a replica holds of one bucket, and what the database last answered about it. */
interface LocalTokens {
  tokens: number;
  takenAt: number;
  /** The bucket was empty then. */
  refusedAt: number;
  /** When it has a token again. */
  refusedUntil: number;
  /** More tokens are on their way. */
  coming: Promise<void> | null;
}

/** Enough for every active caller of a replica; the ones forgotten first were idle longest. */
const CALLERS = 100_000;
/** A replica takes this part of a burst at a time: so much of it may lie unused in every other replica. */
const PART_OF_BURST = 20;
/** Tokens that were not spent by then go back, so that no replica saves them up beside a full bucket. */
const KEEP_MILLISECONDS = 5_000;

/** @returns `undefined` when the request may pass at once, else a promise of the decision */
export type TakeRate = (name: RateLimitName, subject: string) => Promise<void> | undefined;

export interface RateLimiterOptions {
  readonly rates: Rates;
  readonly clock: () => Date;
  readonly takeFromBucket: (request: BucketRequest) => Promise<Taken>;
}

export function rateLimiter({ rates, clock, takeFromBucket }: RateLimiterOptions): TakeRate {
  const callers = new LRUCache<string, LocalTokens>({ max: CALLERS });

  function localTokensOf(key: string): LocalTokens {
    const known = callers.get(key);
    if (known !== undefined) return known;
    const local = { tokens: 0, takenAt: 0, refusedAt: 0, refusedUntil: 0, coming: null };
    callers.set(key, local);
    return local;
  }

  function isRefused(local: LocalTokens): boolean {
    const now = clock().getTime();
    return now >= local.refusedAt && now < local.refusedUntil;
  }

  /** @throws RefusalError `rate_limited` with the seconds until the next token */
  async function refused(local: LocalTokens): Promise<never> {
    const retryAfter = (local.refusedUntil - clock().getTime()) / 1_000;
    throw refuse('rate_limited', undefined, { retryAfter });
  }

  function spend(local: LocalTokens): boolean {
    const now = clock().getTime();
    if (local.tokens < 1 || now < local.takenAt || now >= local.takenAt + KEEP_MILLISECONDS) return false;
    local.tokens -= 1;
    return true;
  }

  async function fill(local: LocalTokens, kind: keyof Rates, subject: string): Promise<void> {
    const rate = rates[kind];
    const now = clock();
    const returned = local.tokens;
    local.tokens = 0;
    const wanted = Math.max(1, Math.floor(rate.burst / PART_OF_BURST));
    const { taken, left } = await takeFromBucket({ kind, subject, rate, wanted, returned, now });
    local.tokens = taken;
    local.takenAt = now.getTime();
    if (taken > 0) return;
    local.refusedAt = now.getTime();
    local.refusedUntil = now.getTime() + Math.ceil(((1 - left) * 60_000) / rate.perMinute);
  }

  async function spendNext(local: LocalTokens, kind: keyof Rates, subject: string): Promise<void> {
    do {
      local.coming ??= fill(local, kind, subject).finally(() => {
        local.coming = null;
      });
      await local.coming;
      if (isRefused(local)) await refused(local);
    } while (!spend(local));
  }

  return function take(name, subject) {
    if (name === 'none') return undefined;
    const local = localTokensOf(`${name}\0${subject}`);
    if (isRefused(local)) return refused(local);
    return spend(local) ? undefined : spendNext(local, name, subject);
  };
}
