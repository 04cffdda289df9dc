// Charges reservations in full whose Gateway lost contact, and forgets them a day later.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { CoreContext } from '../context.ts';
import { chargeOverdue, forgetCharged } from './call-queries.ts';

const PERIOD_MILLISECONDS = 30_000;
/** A Gateway that comes back by then corrects what was charged. */
const FORGOTTEN_MILLISECONDS = 24 * 3_600_000;
const BATCH = 1_000;

export function overdueCalls(context: CoreContext): PeriodicTask {
  return new PeriodicTask(context, {
    name: 'overdue-intelligence',
    everyMilliseconds: PERIOD_MILLISECONDS,
    piece: () => chargeOne(context),
  });
}

/** @returns whether there may be more to do */
export async function chargeOne({ pool, clock }: CoreContext): Promise<boolean> {
  const now = clock();
  const forgottenAt = new Date(now.getTime() + FORGOTTEN_MILLISECONDS);
  const mostModels = limits.intelligenceModels.value;
  if (await chargeOverdue(pool, { now, forgottenAt, mostModels })) return true;
  return (await forgetCharged(pool, now, BATCH)) === BATCH;
}
