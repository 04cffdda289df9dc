// Removes notifications that are older than the operator keeps them, or exceed an account's limit: in the
// background, by one replica at a time, in batches.

import { PeriodicTask } from '../background/periodic-task.ts';
import { earlier, type ProvenTime } from '../clock/clock-guard.ts';
import type { CoreContext } from '../context.ts';
import { accountsWithSurplus, removeOlder, removeSurplus } from './retention-queries.ts';

const PERIOD_MILLISECONDS = 10 * 60_000;
const BATCH = 1_000;
const ACCOUNTS = 200;
const DAY_MILLISECONDS = 86_400_000;

export function notificationRetention(context: CoreContext): PeriodicTask {
  const piece = retentionPieces(context);
  return new PeriodicTask(context, { name: 'notification-retention', everyMilliseconds: PERIOD_MILLISECONDS, piece });
}

/**
 * The work of one round after the other.
 *
 * @returns a function that does the next batch, at most 1,000 records or 200 accounts, and returns whether the round
 *   has further ones
 */
function retentionPieces(context: CoreContext): (proven: ProvenTime) => Promise<boolean> {
  const { database, config } = context;
  let after = '';
  let surplus: readonly string[] = [];
  return async function piece(proven) {
    const oldest = earlier(proven, config.notificationDays * DAY_MILLISECONDS);
    if ((await removeOlder(database, oldest, BATCH)) > 0) return true;
    const [accountKey, ...rest] = surplus;
    const kept = config.notificationsKept;
    if (accountKey !== undefined) {
      if ((await removeSurplus(database, { accountKey, kept }, BATCH)) === 0) surplus = rest;
      return true;
    }
    const page = await accountsWithSurplus(database, { after, accounts: ACCOUNTS, kept });
    surplus = page.surplus;
    after = page.last ?? '';
    return page.last !== null;
  };
}
