// Deletes the volumes of deleted accounts on their nodes, however long one of these is away.
import { type InstallationId, RefusalError } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { abandonedVolumes, findNodeOfVolume } from './abandoned-queries.ts';

/** Longer than a node may take to answer. */
const LEASE_MILLISECONDS = 60_000;

export function deletingVolumes({ database, nodes }: CoreContext): JobKind<InstallationId> {
  return {
    name: 'volumes of deleted accounts',
    jobs: abandonedVolumes,
    wakeOn: 'data-abandoned',
    slots: 4,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const nodeId = await findNodeOfVolume(database, id);
      // A node that was removed from the platform took its volumes along.
      if (nodeId === null) return 'done';
      try {
        await nodes.deleteAbandonedVolume(id, nodeId);
        return 'done';
      } catch (error) {
        // It does not answer, or still ends the app.
        if (!(error instanceof RefusalError)) throw error;
        return 'failed';
      }
    },
  };
}
