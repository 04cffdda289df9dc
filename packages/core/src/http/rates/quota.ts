// Takes from a bucket of its own what a route counts besides its rate, such as what costs the operator money.
import { refuse } from '@platform/contract';
import type { Rates } from '../../config/rates.ts';
import type { CoreContext } from '../../context.ts';
import { takeFromBucket } from './rate-buckets.ts';

export interface Quota {
  readonly kind: keyof Rates;
  readonly subject: string;
  /** Said in the refusal. */
  readonly detail: string;
}

/** @throws RefusalError `rate_limited` with the seconds until the next token */
export async function takeQuota(
  { pool, rates, clock }: Pick<CoreContext, 'pool' | 'rates' | 'clock'>,
  { kind, subject, detail }: Quota,
): Promise<void> {
  const rate = rates[kind];
  const { taken, left } = await takeFromBucket(pool, { kind, subject, rate, wanted: 1, returned: 0, now: clock() });
  if (taken === 0) throw refuse('rate_limited', detail, { retryAfter: ((1 - left) * 60) / rate.perMinute });
}
