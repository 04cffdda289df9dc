// Writes down which runs expired, and removes those that ended a week ago: in the background, by one replica at a time,
// in batches.

import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { deleteKeptRuns, type ExpiringRuns, expireRuns } from './run-queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const EXPIRED = 200;
/** Each with its activities and history. */
const REMOVED = 20;

/**
 * Writes down that runs expired: the one of this id, or some of all.
 *
 * @returns how many
 */
export async function writeExpiries(
  { database, at }: CoreContext,
  due: Omit<ExpiringRuns, 'keptDays'>,
): Promise<number> {
  await at('workflows.expire.committing');
  const expired = await expireRuns(database, { ...due, keptDays: limits.workflowKeptDays.value });
  await at('workflows.expire.committed');
  return expired;
}

export function workflowHousekeeping(context: CoreContext): PeriodicTask {
  async function piece(proven: ProvenTime): Promise<boolean> {
    const expired = await writeExpiries(context, { proven, most: EXPIRED });
    await context.at('workflows.cleanup.committing');
    const removed = await deleteKeptRuns(context.database, proven, REMOVED);
    await context.at('workflows.cleanup.committed');
    return expired === EXPIRED || removed === REMOVED;
  }
  return new PeriodicTask(context, { name: 'workflow-housekeeping', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}
