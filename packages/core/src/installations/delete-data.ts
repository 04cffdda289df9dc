// Deletes the data of an app and keeps the app: what core has of it at once, the volume as soon as its node answers, and
// then its objects. Until then the backend is on no node, so nothing writes what is being deleted (docs/decisions/volumes.md).
import { type InstallationId, RefusalError, refuse } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { deleteObjectsOf, mayHaveObjects, ObjectStoreError } from '../object-storage/face.ts';
import { assignmentsChanged, deletePorts } from '../placement/face.ts';
import { dataDeletions, insertDataDeletion, selectDataDeletion } from './data-queries.ts';
import { forgetVolume, lockIdentity } from './queries.ts';

/** Longer than a node may take to answer, and the store afterwards. */
const LEASE_MILLISECONDS = 90_000;
/** An app with more objects than can be deleted in this time is claimed again. */
const STORE_MILLISECONDS = 45_000;

/**
 * Resolves when the deletion is written down; a later call while it lasts changes nothing. The app may be removed already.
 *
 * @throws RefusalError `not_found` for an app that the account never had
 */
export async function deleteData(context: CoreContext, accountKey: string, appId: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    const id = await lockIdentity(trx, accountKey, appId);
    if (id === undefined) throw refuse('not_found');
    if (!(await insertDataDeletion(trx, id, context.clock()))) return;
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    await context.lifecycle.dataDeleted(trx, id);
    await notify(trx, 'data-abandoned', {});
    await context.at('installations.data.committing');
  });
  await context.at('installations.data.committed');
}

export function deletingData(context: CoreContext): JobKind<InstallationId> {
  const { database, clock, log } = context;
  return {
    name: 'data of apps',
    jobs: dataDeletions,
    wakeOn: 'data-abandoned',
    slots: 4,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const deletion = await selectDataDeletion(database, id);
      if (deletion === undefined) return 'done';
      const { accountKey, hasVolume, nodeId } = deletion;
      try {
        const hasObjects = await mayHaveObjects(context, id);
        // A node that was removed from the platform took its volumes along. Without a volume, the node still answers
        // that it runs nothing any more that could write objects.
        if ((hasVolume || hasObjects) && nodeId !== null) await context.nodes.deleteVolume(id);
        if (hasObjects && !(await deleteObjectsOf(context, id, STORE_MILLISECONDS))) return { again: clock() };
      } catch (error) {
        // A node that still ends the backend refuses, and does not for long.
        if (!(error instanceof RefusalError || error instanceof ObjectStoreError)) throw error;
        if (error instanceof ObjectStoreError)
          log.warn({ reason: error.message, installationId: id }, 'the data of an app waits for the object store');
        return 'failed';
      }
      await context.at('installations.data.deleted');
      return (trx) => finish(trx, id, accountKey);
    },
  };
}

/** An installed app may start again; a removed one has no volume any more. */
async function finish(trx: Executor, id: InstallationId, accountKey: string): Promise<void> {
  if (await forgetVolume(trx, id)) await deletePorts(trx, id);
  await notify(trx, 'installation-changed', { installationId: id, accountKey });
  await assignmentsChanged(trx, null);
}
