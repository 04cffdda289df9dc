// Deletes the objects of deleted accounts, however long the store is away.
import type { InstallationId } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { deleteObjects, ObjectStoreError } from './delete-objects.ts';
import { abandonedObjects, selectAbandonedAt } from './queries.ts';

/** Longer than what follows, so that no other replica works on the same. */
const LEASE_MILLISECONDS = 120_000;
const WORK_MILLISECONDS = 60_000;
/**
 * Gateways of a deleted account end at once. One whose node core does not reach forgets the key of the store after a
 * minute, and ends what it was sending within a few: that long after the deletion is looked for the last time.
 */
const LAST_LOOK_MILLISECONDS = 60 * 60_000;

export function deletingObjects(context: CoreContext): JobKind<InstallationId> {
  const { database, clock, config, log } = context;
  const store = config.objectStore;
  return {
    name: 'objects of deleted accounts',
    jobs: abandonedObjects,
    wakeOn: 'data-abandoned',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    // Without a store they wait for the day on which the operator configures it again.
    possible: store !== null,
    async run({ id }) {
      const abandonedAt = await selectAbandonedAt(database, id);
      if (store === null || abandonedAt === undefined) return 'done';
      try {
        if (!(await deleteObjects(context, store, id, WORK_MILLISECONDS))) return { again: clock() };
        const lastLook = new Date(abandonedAt.getTime() + LAST_LOOK_MILLISECONDS);
        return clock() < lastLook ? { again: lastLook } : 'done';
      } catch (error) {
        if (!(error instanceof ObjectStoreError)) throw error;
        log.warn({ reason: error.message, installationId: id }, 'the objects of a deleted account wait for the store');
        return 'failed';
      }
    },
  };
}
