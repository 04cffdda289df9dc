// Removes rate buckets that are full again, which equal missing ones.

import { PeriodicTask } from '../../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../../clock/clock-guard.ts';
import type { Rates } from '../../config/rates.ts';
import type { CoreContext } from '../../context.ts';
import { removeIdleBuckets } from './rate-buckets.ts';

const PERIOD_MILLISECONDS = 10 * 60_000;
const BATCH = 1_000;
/** Few kinds take longer to be full again, and those have few buckets: the many others need not stay for them. */
const SLOW_MILLISECONDS = 60 * 60_000;

export function idleBuckets(context: CoreContext, rates: Rates): PeriodicTask {
  return new PeriodicTask(context, {
    name: 'idle-rate-buckets',
    everyMilliseconds: PERIOD_MILLISECONDS,
    piece: (proven) => sweepBuckets(context, rates, proven),
  });
}

/** @returns whether there may be more to remove */
export async function sweepBuckets(
  { pool }: Pick<CoreContext, 'pool'>,
  rates: Rates,
  proven: ProvenTime,
): Promise<boolean> {
  const all = Object.entries(rates).map(([kind, { perMinute, burst }]) => ({
    kind,
    fills: (60_000 * burst) / perMinute,
  }));
  const slow = all.filter(({ fills }) => fills > SLOW_MILLISECONDS);
  const fullBefore = (of: typeof all) =>
    earlier(proven, Math.max(PERIOD_MILLISECONDS, ...of.map(({ fills }) => fills)));
  const others = fullBefore(all.filter((one) => !slow.includes(one)));
  const ofSlow = { kinds: slow.map(({ kind }) => kind), before: fullBefore(slow) };
  return (await removeIdleBuckets(pool, others, BATCH, ofSlow)) === BATCH;
}
