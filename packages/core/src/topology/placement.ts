// Which node a workload is placed on. There is one node; a choice among several belongs here and nowhere else.
import { refuse, type WorkloadManifest } from '@platform/contract';
import type { Kysely } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { firstNode } from './queries.ts';

/**
 * The node for a new installation with this workload, or `null` for an app without one.
 *
 * @throws RefusalError `placement_not_allowed` when no node can run such a workload, `unavailable` without a node
 */
export async function placeInstallation(
  trx: Kysely<DatabaseSchema>,
  workload: WorkloadManifest | undefined,
): Promise<string | null> {
  if (workload === undefined) return null;
  if (workload.runtime !== 'node') {
    throw refuse(
      'placement_not_allowed',
      'The backend of this app is a container image, which this machine cannot run. Choose a version whose backend has the runtime "node".',
    );
  }
  const nodeId = await firstNode(trx);
  if (nodeId === undefined) throw refuse('unavailable', 'No machine is ready to run the backend of this app.');
  return nodeId;
}
