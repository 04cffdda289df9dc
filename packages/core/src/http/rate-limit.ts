// Token buckets, one for each caller and kind of route. Kept in memory: each replica enforces its own share.
import { limits, type RateLimitName, refuse } from '@platform/contract';
import { LRUCache } from 'lru-cache';

interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export type Rates = Readonly<Record<Exclude<RateLimitName, 'none'>, Rate>>;

function steady(perMinute: number): Rate {
  return { perMinute, burst: perMinute };
}

export const defaultRates: Rates = {
  authentication: steady(limits.authenticationRate.value),
  session: steady(limits.sessionRate.value),
  notification: { perMinute: limits.notificationRate.value, burst: limits.notificationBurst.value },
  searchWrite: steady(limits.searchWriteRate.value),
  service: steady(limits.serviceRate.value),
};

interface Bucket {
  tokens: number;
  at: number;
}

/** Enough for every active caller of a replica; the oldest bucket, forgotten first, is full again anyway. */
const BUCKETS = 100_000;

export function rateLimiter(rates: Rates, clock: () => Date): (name: RateLimitName, subject: string) => void {
  const buckets = new LRUCache<string, Bucket>({ max: BUCKETS });
  /** @throws RefusalError `rate_limited` with the seconds until the next token */
  return function take(name, subject) {
    if (name === 'none') return;
    const rate = rates[name];
    const key = `${name}\0${subject}`;
    const now = clock().getTime();
    const bucket = buckets.get(key) ?? { tokens: rate.burst, at: now };
    const refill = ((now - bucket.at) / 60_000) * rate.perMinute;
    const tokens = Math.min(rate.burst, bucket.tokens + Math.max(0, refill));
    if (tokens < 1) {
      throw refuse('rate_limited', undefined, { retryAfter: ((1 - tokens) * 60) / rate.perMinute });
    }
    buckets.set(key, { tokens: tokens - 1, at: now });
  };
}
