// Suspension: the operator closes an account without deleting anything. Nobody signs in to it, its apps call nothing, and
// its backends stand still, until the operator resumes it.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { type Changing, changing } from '../../database/changing.ts';
import { notify } from '../../database/notify.ts';
import { type AccountRow, deleteSignIns, selectAccounts, updateSuspended } from './suspension-queries.ts';

export type { AccountRow } from './suspension-queries.ts';

/** Every account with its state, by name. */
export function listAccountStates({ database, clock }: Pick<CoreContext, 'database' | 'clock'>): Promise<AccountRow[]> {
  return selectAccounts(database, clock());
}

/**
 * Ends the sessions of the account, what they opened, its live streams and its work leases, and has its backends stopped.
 *
 * @returns false when it was suspended already
 * @throws RefusalError `not_found`
 */
export async function suspendAccount(context: CoreContext, name: string): Promise<boolean> {
  return change(context, name, context.clock(), async (trx, accountKey) => {
    const sessionIds = await deleteSignIns(trx, accountKey);
    await notify(trx, 'session-ended', { accountKey, sessionId: null });
    await context.lifecycle.sessionsEnded(trx, sessionIds);
    await context.lifecycle.accountPaused(trx, accountKey);
  });
}

/**
 * Sessions that the suspension ended stay ended; an account that its owner had paused is still paused.
 *
 * @returns false when it was not suspended
 * @throws RefusalError `not_found`
 */
export function resumeSuspended(context: CoreContext, name: string): Promise<boolean> {
  return change(context, name, null, (trx, accountKey) => context.lifecycle.accountResumed(trx, accountKey));
}

function change(
  context: CoreContext,
  name: string,
  suspendedAt: Date | null,
  follow: (trx: Changing, accountKey: string) => Promise<void>,
): Promise<boolean> {
  return changing(context, async (trx) => {
    const account = await updateSuspended(trx, name, suspendedAt);
    if (account === undefined) throw refuse('not_found', `There is no account named ${name}.`);
    if (!account.changed) return false;
    // What its installations may do changes as with a pause.
    await notify(trx, 'pause-changed', { accountKey: account.key });
    await follow(trx, account.key);
    return true;
  });
}
