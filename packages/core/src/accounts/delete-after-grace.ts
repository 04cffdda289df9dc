// Deletes the accounts whose owners asked for it, once the grace has passed.
import { RefusalError } from '@platform/contract';
import { LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import { deleteAccount } from './delete-account.ts';
import { deletionOf, GRACE_MILLISECONDS } from './deletion-grace.ts';
import { claimDeletions, oldestDeletion } from './deletion-queries.ts';

/** Longer than the transaction that deletes an account takes, and how long one that failed waits. */
const LEASE_MILLISECONDS = 120_000;

export function deletingAfterGrace(context: CoreContext): LeasedWorker<{ readonly key: string }> {
  const { database, log } = context;
  return new LeasedWorker(context, {
    name: 'deletion of accounts',
    wakeOn: 'pause-changed',
    slots: 1,
    leaseMilliseconds: LEASE_MILLISECONDS,
    claim: ({ now, until }, atMost) =>
      claimDeletions(database, { requestedBefore: requestedBefore(now), now, until, atMost }),
    async run({ key }, { now }) {
      try {
        const name = await deleteAccount(context, { key, requestedBefore: requestedBefore(now) });
        log.info({ account: name }, 'an account was deleted, as its owner asked');
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        // Kept or deleted by the operator since it was claimed, or the master account by now.
        log.info({ err: error }, 'an account whose deletion was due is not deleted');
      }
    },
    async nextDue() {
      const oldest = await oldestDeletion(database);
      if (oldest === undefined) return null;
      return oldest.leasedUntil ?? deletionOf(oldest.requestedAt);
    },
  });
}

function requestedBefore(now: Date): Date {
  return new Date(now.getTime() - GRACE_MILLISECONDS);
}
