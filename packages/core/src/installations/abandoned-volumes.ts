// Deletes the volumes of deleted accounts on their nodes, however long one of these is away.
import { RefusalError } from '@platform/contract';
import { backOff, LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import {
  type AbandonedVolume,
  claimAbandonedVolumes,
  forgetAbandonedVolume,
  nextAbandonedVolume,
  postponeAbandonedVolume,
} from './abandoned-queries.ts';

/** Longer than a node may take to answer. */
const LEASE_MILLISECONDS = 60_000;
/** A node that still ends the app refuses, and does not for long. */
const RETRY = { first: 1_000, longest: 600_000 };

export function abandonedVolumes(context: CoreContext): LeasedWorker<AbandonedVolume> {
  const { database, clock } = context;
  return new LeasedWorker(context, {
    name: 'volumes of deleted accounts',
    wakeOn: 'data-abandoned',
    slots: 4,
    leaseMilliseconds: LEASE_MILLISECONDS,
    claim: ({ now, until }, atMost) => claimAbandonedVolumes(database, { now, until, atMost }),
    async run({ id, nodeId, attempts }) {
      try {
        // A node that was removed from the platform took its volumes along.
        if (nodeId !== null) await context.nodes.deleteAbandonedVolume(id, nodeId);
        await forgetAbandonedVolume(database, id);
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        const wait = backOff(context, attempts - 1, RETRY);
        await postponeAbandonedVolume(database, id, new Date(clock().getTime() + wait));
      }
    },
    nextDue: () => nextAbandonedVolume(database),
  });
}
