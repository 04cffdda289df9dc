// Charges reservations in full whose Gateway lost contact, and forgets them a day later.

import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
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
    piece: (proven) => chargeOne(context, proven),
  });
}

/** @returns whether there may be more to do */
export async function chargeOne({ pool }: Pick<CoreContext, 'pool'>, proven: ProvenTime): Promise<boolean> {
  const forgottenAt = new Date(proven.getTime() + FORGOTTEN_MILLISECONDS);
  const mostModels = limits.intelligenceModels.value;
  if (await chargeOverdue(pool, { proven, forgottenAt, mostModels })) return true;
  return (await forgetCharged(pool, proven, BATCH)) === BATCH;
}
