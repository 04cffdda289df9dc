// Deletes the accounts whose owners asked for it, once the grace has passed.

import { RefusalError } from '@platform/contract';
import { LeasedWorker } from '../../background/leased-worker.ts';
import { earlier } from '../../clock/clock-guard.ts';
import type { CoreContext } from '../../context.ts';
import { deleteAccount } from './delete-account.ts';
import { deletionOf, GRACE_MILLISECONDS } from './deletion-grace.ts';
import { claimDeletions, oldestDeletion } from './deletion-queries.ts';

/** Longer than the transaction that deletes an account takes, and how long one that failed waits. */
const LEASE_MILLISECONDS = 120_000;

export function deletingAfterGrace(context: CoreContext): LeasedWorker<{ readonly key: string }> {
  const { database, log, time } = context;
  return new LeasedWorker(context, {
    name: 'deletion of accounts',
    wakeOn: 'pause-changed',
    slots: 1,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async claim({ now, until }, atMost) {
      const proven = await time.sweep();
      if (proven === null) return [];
      return claimDeletions(database, { requestedBefore: earlier(proven, GRACE_MILLISECONDS), now, until, atMost });
    },
    async run({ key }) {
      try {
        const name = await deleteAccount(context, { key, requestedBefore: earlier(time.proven(), GRACE_MILLISECONDS) });
        log.info({ account: name }, 'an account was deleted, as its owner asked');
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        // Kept or deleted by the operator since it was claimed, or the master account by now.
        log.info({ err: error }, 'an account whose deletion was due is not deleted');
      }
    },
    async nextDue() {
      if (time.held() !== null) return null;
      const oldest = await oldestDeletion(database);
      if (oldest === undefined) return null;
      return oldest.leasedUntil ?? deletionOf(oldest.requestedAt);
    },
  });
}
