// An owner has the account deleted: at once everything of it stops, and after a grace it is gone. Until then signing
// in with one of its passkeys is enough to keep it (docs/decisions/leaving.md).
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { type Confirming, confirmed } from '../passkeys/confirm.ts';
import { endOtherSessions } from '../sessions/sessions.ts';
import { requireNotMaster } from './delete-account.ts';
import { deletionOf } from './deletion-grace.ts';
import { clearDeletion, deleteEnrolmentLinks, markForDeletion } from './deletion-queries.ts';

/**
 * The account is paused from now on, its published apps are unlisted, and its other sessions end.
 *
 * @param typedName must be the name of the account
 * @returns when the account is deleted
 * @throws RefusalError `invalid_request` for another name, `not_authorized` for the master account, and as {@link confirmed}
 */
export async function requestDeletion(
  context: CoreContext,
  { typedName, ...confirming }: Omit<Confirming, 'operation'> & { readonly typedName: string },
): Promise<Date> {
  const { caller } = confirming;
  const { accountKey, accountName } = caller;
  if (typedName !== accountName)
    throw refuse('invalid_request', `Type ${accountName}, the name of this account, to delete it.`);
  await requireNotMaster(context, accountName);
  const now = context.clock();
  const deletesAt = deletionOf(now) ?? now;
  await confirmed(context, { ...confirming, operation: 'account.delete', locksAccount: true }, async (trx) => {
    if (!(await markForDeletion(trx, accountKey, now))) throw refuse('account_closing');
    // It may have been named while the passkey was asked for.
    await requireNotMaster({ config: context.config, database: trx }, accountName);
    await deleteEnrolmentLinks(trx, accountKey);
    await notify(trx, 'pause-changed', { accountKey });
    await endOtherSessions(trx, context, caller);
    await context.lifecycle.accountPaused(trx, accountKey);
    const event = { kind: 'deletion-requested', deletesAt: deletesAt.toISOString() } as const;
    await context.lifecycle.securityEvent(trx, caller, event);
  });
  return deletesAt;
}

/** Its apps may run again, unless the owner had paused them before. Without effect on an account that nobody deletes. */
export async function cancelDeletion(context: CoreContext, accountKey: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    const kept = await clearDeletion(trx, accountKey);
    if (kept === undefined) return;
    await notify(trx, 'pause-changed', { accountKey });
    if (!kept.paused) await context.lifecycle.accountResumed(trx, accountKey);
  });
}
