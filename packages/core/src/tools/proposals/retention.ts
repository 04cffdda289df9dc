// Ends approved calls that nobody carries out any more, and removes old proposals.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../../clock/clock-guard.ts';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { failure, UNKNOWN_OUTCOME } from './decide.ts';
import { deleteOldProposals, failAbandoned } from './proposal-queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const BATCH = 500;
/** Nobody carries a call out for longer. */
const ABANDONED_MILLISECONDS = (limits.toolSeconds.value + 120) * 1_000;

export function proposalRetention(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepProposals(context, proven);
  return new PeriodicTask(context, { name: 'tool-proposals', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more */
export async function sweepProposals(
  { database }: Pick<CoreContext, 'database'>,
  proven: ProvenTime,
): Promise<boolean> {
  const until = earlier(proven, ABANDONED_MILLISECONDS);
  const abandoned = await failAbandoned(database, {
    until,
    result: JSON.stringify(failure(UNKNOWN_OUTCOME)),
    atMost: BATCH,
  });
  for (const accountKey of new Set(abandoned)) await notify(database, 'proposals-changed', { accountKey });
  const old = earlier(proven, limits.proposalKeptSeconds.value * 1_000);
  return (await deleteOldProposals(database, old, BATCH)) === BATCH || abandoned.length === BATCH;
}
