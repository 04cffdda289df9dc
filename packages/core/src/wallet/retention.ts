// Removes proposals of long ago; what was carried out stays as receipt and in the ledger.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { deleteOldProposals } from './proposal-queries.ts';

const PERIOD_MILLISECONDS = 3_600_000;
const BATCH = 500;
const DAY_MILLISECONDS = 86_400_000;

export function walletRetention(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepWalletProposals(context, proven);
  return new PeriodicTask(context, { name: 'wallet-proposals', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more */
export async function sweepWalletProposals(
  { database }: Pick<CoreContext, 'database'>,
  proven: ProvenTime,
): Promise<boolean> {
  const until = earlier(proven, limits.walletProposalDays.value * DAY_MILLISECONDS);
  return (await deleteOldProposals(database, until, BATCH)) === BATCH;
}
