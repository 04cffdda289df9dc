// Removes rate buckets that are full again, which equal missing ones.

import { PeriodicTask } from '../../background/periodic-task.ts';
import { earlier } from '../../clock/clock-guard.ts';
import type { Rates } from '../../config/rates.ts';
import type { CoreContext } from '../../context.ts';
import { removeIdleBuckets } from './rate-buckets.ts';

const PERIOD_MILLISECONDS = 10 * 60_000;
const BATCH = 1_000;
const SLOW_MINUTES = 60;

export function idleBuckets(context: CoreContext, rates: Rates): PeriodicTask {
  const minutes = Object.entries(rates).map(([kind, { perMinute, burst }]) => [kind, burst / perMinute] as const);
  // Few kinds take long to be full again, and those have few buckets: the many others need not stay for them.
  const slow = minutes.filter(([, one]) => one > SLOW_MINUTES);
  const longest = (of: typeof minutes) => 60_000 * Math.max(PERIOD_MILLISECONDS / 60_000, ...of.map(([, one]) => one));
  const milliseconds = longest(minutes.filter(([, one]) => one <= SLOW_MINUTES));
  return new PeriodicTask(context, {
    name: 'idle-rate-buckets',
    everyMilliseconds: PERIOD_MILLISECONDS,
    async piece(proven) {
      const kinds = slow.map(([kind]) => kind);
      const other = { kinds, before: earlier(proven, longest(slow)) };
      return (await removeIdleBuckets(context.pool, earlier(proven, milliseconds), BATCH, other)) === BATCH;
    },
  });
}
