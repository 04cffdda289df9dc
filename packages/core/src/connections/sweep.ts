// Removes what has expired: requests, tokens, connections without one that can be used, and clients that nobody uses.
import { limits } from '@platform/contract';
import { PeriodicTask } from '../background/periodic-task.ts';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { deleteUnusedClients } from './client-queries.ts';
import { announceEnds } from './connections.ts';
import { deleteUnusable } from './queries.ts';
import { deleteExpiredRequests } from './request-queries.ts';
import { deleteExpiredTokens } from './token-queries.ts';

const PERIOD_MILLISECONDS = 60_000;
const BATCH = 1_000;
const DAY_SECONDS = 86_400;

export function connectionSweep(context: CoreContext): PeriodicTask {
  const piece = (proven: ProvenTime) => sweepConnections(context, proven);
  return new PeriodicTask(context, { name: 'connections', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/** @returns whether there may be more to remove */
export async function sweepConnections(
  { database }: Pick<CoreContext, 'database'>,
  proven: ProvenTime,
): Promise<boolean> {
  const atMost = BATCH;
  const ended = await database.transaction().execute(async (trx) => {
    const unusable = await deleteUnusable(trx, { proven, atMost });
    await announceEnds(trx, unusable);
    return unusable.length;
  });
  const removed = [
    ended,
    await deleteExpiredTokens(database, { proven, atMost }),
    await deleteExpiredRequests(database, { proven, atMost }),
    await deleteUnusedClients(database, {
      proven,
      atMost,
      unusedSeconds: limits.unusedClientSeconds.value,
      usedSeconds: limits.connectionDays.value * DAY_SECONDS,
    }),
  ];
  return removed.some((count) => count === atMost);
}
