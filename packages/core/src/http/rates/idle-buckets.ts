// Removes rate buckets that are full again, which equal missing ones.

import { PeriodicTask } from '../../background/periodic-task.ts';
import { earlier } from '../../clock/clock-guard.ts';
import type { Rates } from '../../config/rates.ts';
import type { CoreContext } from '../../context.ts';
import { removeIdleBuckets } from './rate-buckets.ts';

const PERIOD_MILLISECONDS = 10 * 60_000;
const BATCH = 1_000;

export function idleBuckets(context: CoreContext, rates: Rates): PeriodicTask {
  const minutes = Math.max(...Object.values(rates).map(({ perMinute, burst }) => burst / perMinute));
  return new PeriodicTask(context, {
    name: 'idle-rate-buckets',
    everyMilliseconds: PERIOD_MILLISECONDS,
    async piece(proven) {
      const full = earlier(proven, Math.max(PERIOD_MILLISECONDS, minutes * 60_000));
      return (await removeIdleBuckets(context.pool, full, BATCH)) === BATCH;
    },
  });
}
