// Removing an app: everything it could act with ends in one transaction; its identity stays, and with it its volume.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { deleteLeases } from '../leases/queries.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { assignmentsChanged } from '../placement/assignments.ts';
import { deleteWorkloadState } from '../placement/queries.ts';
import { removeIndex } from '../search/remove-index.ts';
import { lockOwn, markRemoved } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function uninstallApp(
  context: CoreContext,
  nodes: Nodes,
  accountKey: string,
  appId: string,
): Promise<void> {
  const removed = await context.database.transaction().execute(async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const { id, manifest } = installation;
    await markRemoved(trx, id, context.clock());
    await deleteWorkloadState(trx, id);
    await removeIndex(trx, id);
    await deleteLeases(trx, id);
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    if (manifest.workload !== undefined) await assignmentsChanged(trx);
    return installation;
  });
  if (removed.manifest.workload === undefined) return;
  // The app is removed already: its node stops it for want of an assignment, even if it cannot be told now.
  await nodes.forget(removed.id).catch((error: unknown) => {
    context.log.warn({ installationId: removed.id, err: error }, 'a removed app was not stopped at once');
  });
}
