// Deletes the objects of deleted accounts, however long the store is away.
import { backOff, LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import { deleteObjects, ObjectStoreError } from './delete-objects.ts';
import {
  type AbandonedObjects,
  claimAbandonedObjects,
  forgetAbandonedObjects,
  nextAbandonedObjects,
  postponeAbandonedObjects,
} from './queries.ts';

/** Longer than what follows, so that no other replica works on the same. */
const LEASE_MILLISECONDS = 120_000;
const WORK_MILLISECONDS = 60_000;
const RETRY = { first: 1_000, longest: 600_000 };
/**
 * Gateways of a deleted account end at once. One whose node core does not reach forgets the key of the store after a
 * minute, and ends what it was sending within a few: that long after the deletion is looked for the last time.
 */
const LAST_LOOK_MILLISECONDS = 60 * 60_000;

export function abandonedObjects(context: CoreContext): LeasedWorker<AbandonedObjects> {
  const { database, clock, config, log } = context;
  const store = config.objectStore;
  return new LeasedWorker(context, {
    name: 'objects of deleted accounts',
    wakeOn: 'data-abandoned',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    // Without a store they wait for the day on which the operator configures it again.
    claim: async ({ now, until }, atMost) =>
      store === null ? [] : claimAbandonedObjects(database, { now, until, atMost }),
    async run({ id, attempts, abandonedAt }) {
      if (store === null) return;
      try {
        const done = await deleteObjects(context, store, id, WORK_MILLISECONDS);
        const lastLook = new Date(abandonedAt.getTime() + LAST_LOOK_MILLISECONDS);
        if (!done) await postponeAbandonedObjects(database, id, { dueAt: clock(), attempts: 0 });
        else if (clock() < lastLook) await postponeAbandonedObjects(database, id, { dueAt: lastLook, attempts: 0 });
        else await forgetAbandonedObjects(database, id);
      } catch (error) {
        if (!(error instanceof ObjectStoreError)) throw error;
        log.warn({ reason: error.message, installationId: id }, 'the objects of a deleted account wait for the store');
        const wait = backOff(context, attempts - 1, RETRY);
        await postponeAbandonedObjects(database, id, { dueAt: new Date(clock().getTime() + wait), attempts });
      }
    },
    nextDue: async () => (store === null ? null : nextAbandonedObjects(database)),
  });
}
