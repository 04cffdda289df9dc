// Removes notifications that are older than the operator keeps them, or exceed an account's limit: in the
// background, by one replica at a time, in batches.

import { PeriodicTask } from '../background/periodic-task.ts';
import type { CoreContext } from '../context.ts';
import { type AccountPage, accountsWithSurplus, removeOlder, removeUpTo } from './retention-queries.ts';

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
function retentionPieces(context: CoreContext): () => Promise<boolean> {
  const { database, clock, config } = context;
  let after = '';
  let surplus: AccountPage['surplus'] = [];
  return async function piece() {
    const now = clock();
    const oldest = new Date(now.getTime() - config.notificationDays * DAY_MILLISECONDS);
    if ((await removeOlder(database, oldest, BATCH)) > 0) return true;
    const [next, ...rest] = surplus;
    if (next !== undefined) {
      if ((await removeUpTo(database, next, BATCH)) === 0) surplus = rest;
      return true;
    }
    const page = await accountsWithSurplus(database, { after, accounts: ACCOUNTS, kept: config.notificationsKept });
    surplus = page.surplus;
    after = page.last ?? '';
    return page.last !== null;
  };
}
