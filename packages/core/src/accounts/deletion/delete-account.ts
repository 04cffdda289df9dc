// Deletes an account and everything of it, at once: no session, app, notification, secret or key is left, and its name is
// never given again. Volumes and objects follow as soon as their node and their store answer. What the account published
// stays for those who have it installed, and is offered to nobody else.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { changingAt } from '../../database/changing.ts';
import { notify } from '../../database/notify.ts';
import { isMaster } from '../master/master-account.ts';
import { suspendAccount } from '../suspension/suspend-account.ts';
import { deleteSignIns } from '../suspension/suspension-queries.ts';
import { type Deleted, deleteAccountRow, lockForDeletion, rememberName } from './deletion-queries.ts';

/**
 * When it resolves, nodes have ended what ran, or two seconds have passed. Replicas refuse its sessions and credentials
 * once they have received the signals (`context.signals.settled`).
 *
 * @returns the name of the account
 * @throws RefusalError `not_found`, `not_authorized` for the master account
 */
export async function deleteAccount(context: CoreContext, by: Deleted): Promise<string> {
  if ('name' in by) {
    await requireNotMaster(context, by.name);
    // What its owner and its apps do meanwhile would wait for the deletion, and the deletion for that.
    await suspendAccount(context, by.name);
  }
  return changingAt(context, 'accounts.delete', async (trx) => {
    const account = await lockForDeletion(trx, by);
    if (account === undefined)
      throw refuse('not_found', 'name' in by ? `There is no account named ${by.name}.` : undefined);
    await requireNotMaster({ config: context.config, database: trx }, account.name);
    const { key: accountKey } = account;
    const sessionIds = await deleteSignIns(trx, accountKey);
    await notify(trx, 'session-ended', { accountKey, sessionId: null });
    await context.lifecycle.sessionsEnded(trx, sessionIds);
    await context.lifecycle.accountDeleted(trx, accountKey);
    await rememberName(trx, account.name);
    await deleteAccountRow(trx, accountKey);
    return account.name;
  });
}

/**
 * The platform would have nobody to look after it, since the name is never given again.
 *
 * @throws RefusalError `not_authorized`
 */
export async function requireNotMaster(
  context: Pick<CoreContext, 'config' | 'database'>,
  accountName: string,
): Promise<void> {
  if (!(await isMaster(context, accountName))) return;
  const way =
    context.config.masterAccount === null
      ? 'Take that back first: ./platform account operator --withdraw'
      : 'Set PLATFORM_MASTER_ACCOUNT to another account first.';
  throw refuse('not_authorized', `${accountName} is the master account and cannot be deleted. ${way}`);
}
