// Writes down which runs expired, and removes those that ended a week ago: in the background, by one replica at a time,
// in batches.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { CoreContext } from '../context.ts';
import { deleteKeptRuns, expireRuns } from './run-queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const EXPIRED = 200;
/** Each with its activities and history. */
const REMOVED = 20;

export function workflowHousekeeping(context: CoreContext): PeriodicTask {
  const { database, clock } = context;
  async function piece(): Promise<boolean> {
    const now = clock();
    const expired = await expireRuns(database, { now, keptDays: limits.workflowKeptDays.value, most: EXPIRED });
    const removed = await deleteKeptRuns(database, now, REMOVED);
    return expired === EXPIRED || removed === REMOVED;
  }
  return new PeriodicTask(context, { name: 'workflow-housekeeping', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}
