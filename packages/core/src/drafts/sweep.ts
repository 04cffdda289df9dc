// Removes what no person decided on in time.
import { PeriodicTask } from '../background/periodic-task.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { notifyEach } from '../database/notify.ts';
import { sweepPageErrors } from './page-errors.ts';
import { deleteExpired } from './queries.ts';

const PERIOD_MILLISECONDS = 600_000;
const BATCH = 50;

export function draftSweep(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepDrafts(context, proven);
  return new PeriodicTask(context, { name: 'drafts', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

export function pageErrorSweep(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepPageErrors(context, proven);
  return new PeriodicTask(context, { name: 'page-errors', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more to remove */
export function sweepDrafts({ database }: Pick<CoreContext, 'database'>, proven: ProvenTime): Promise<boolean> {
  return database.transaction().execute(async (trx) => {
    const ofAccounts = await deleteExpired(trx, { proven, atMost: BATCH });
    const changed = [...new Set(ofAccounts)].map((accountKey) => ({ accountKey }));
    if (changed.length > 0) await notifyEach(trx, 'drafts-changed', changed);
    return ofAccounts.length === BATCH;
  });
}
