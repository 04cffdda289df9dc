// Taking workloads from a node and giving them to others. In between an installation waits; while its former node may
// still run it, it is held, so that no two nodes ever run it at the same time (docs/decisions/nodes.md).
import { grantedWorkload, type InstallationId, MiB } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify, notifyEach } from '../database/notify.ts';
import { requireAccountDisk } from '../disk/face.ts';
import { assignmentsChanged } from './change-assignments.ts';
import { lockPlacement, placeElsewhere } from './placement.ts';
import {
  clearHolder,
  setPlaced,
  setWaiting,
  takeMovable,
  unusedInstallation,
  type WaitingRow,
  waitingInstallation,
  waitingInstallations,
} from './placement-queries.ts';

/** So many in one transaction: others wait for its lock. */
const BATCH = 100;

/** Takes everything that can move from a node that lives. It holds it until it has said that it stopped. */
export function vacateNode(context: CoreContext, nodeId: string): Promise<number> {
  return takeAll(context, nodeId, nodeId);
}

/** Takes everything that can move from a lost node. Nothing holds it: the lease of the node ended before. */
export function takeFromLost(context: CoreContext, nodeId: string): Promise<number> {
  return takeAll(context, nodeId, null);
}

async function takeAll(context: CoreContext, nodeId: string, heldBy: string | null): Promise<number> {
  let count = 0;
  for (;;) {
    const taken = await context.database.transaction().execute(async (trx) => {
      await lockPlacement(trx);
      const rows = await takeMovable(trx, nodeId, { heldBy, limit: BATCH });
      if (rows.length === 0) return 0;
      const changed = rows.map(({ id, account_key }) => ({ installationId: id, accountKey: account_key }));
      await notifyEach(trx, 'installation-changed', changed);
      await assignmentsChanged(trx, { context, installations: rows.map(({ id }) => id) });
      return rows.length;
    });
    count += taken;
    if (taken < BATCH) return count;
  }
}

export interface Placed {
  readonly placed: number;
  /** Apps that wait on, because no node has room or their former node has not answered. */
  readonly waiting: readonly string[];
}

/** Gives every waiting installation a node, as far as there is one. Several cores may do this at the same time. */
export async function placeWaiting(context: CoreContext): Promise<Placed> {
  let after = '';
  let placed = 0;
  const waiting: string[] = [];
  for (;;) {
    const rows = await waitingInstallations(context.database, after, BATCH);
    for (const row of rows) {
      after = row.id;
      if (await placeOne(context, row)) placed += 1;
      else waiting.push(row.app_id);
    }
    if (rows.length < BATCH) return { placed, waiting };
  }
}

/**
 * Gives one waiting installation a node, if there is one. Asks no other node: one that is held waits for its holder.
 *
 * @returns whether it was placed
 */
export async function placeNow(context: CoreContext, id: InstallationId): Promise<boolean> {
  const row = await waitingInstallation(context.database, id);
  return row !== undefined && row.held_by === null && (await place(context, row));
}

/**
 * Gives the backend of an installation that nobody has used yet a node, if there is one; otherwise it waits for one from now on.
 *
 * @returns whether it was nowhere before, and is placed now
 * @throws RefusalError `disk_quota` when its account cannot take its volume
 */
export async function placeAtFirstUse(context: CoreContext, id: InstallationId): Promise<boolean> {
  // Most were used before, and nothing is locked for them.
  if ((await unusedInstallation(context.database, id)) === undefined) return false;
  await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const unused = await unusedInstallation(trx, id);
    if (unused === undefined) return;
    const { accountKey, name, volumeMiB } = unused;
    await requireAccountDisk(trx, context, { accountKey, bytes: volumeMiB * MiB, what: `The volume of ${name}` });
    await setWaiting(trx, id);
  });
  await placeNow(context, id);
  return true;
}

async function placeOne(context: CoreContext, row: WaitingRow): Promise<boolean> {
  if (row.held_by !== null && !(await release(context, row, row.held_by))) return false;
  return place(context, row);
}

async function place(context: CoreContext, row: WaitingRow): Promise<boolean> {
  const workload = grantedWorkload(row.workload, row.resources);
  if (workload === undefined) return false;
  return context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const node = await placeElsewhere(trx, {
      id: row.id,
      owner: { accountKey: row.account_key, appId: row.app_id },
      workload,
      hosting: row.wanted_hosting,
      volumeStore: row.volume_store,
    });
    if (node === undefined) return false;
    const volume = row.has_volume
      ? { hasVolume: true, volumeStore: row.volume_store }
      : { hasVolume: workload.volume, volumeStore: workload.volume ? node.sharedStore : null };
    if (!(await setPlaced(trx, row.id, { nodeId: node.id, ...volume }))) return false;
    await notify(trx, 'installation-changed', { installationId: row.id, accountKey: row.account_key });
    await assignmentsChanged(trx, { context, installations: [row.id] });
    return true;
  });
}

/** Whether the former node has ended it, or cannot run it any more. */
async function release(context: CoreContext, { id }: WaitingRow, nodeId: string): Promise<boolean> {
  try {
    await context.nodes.release(id);
  } catch {
    // Logged there. Core retries until the node answers or is lost.
    return false;
  }
  await clearHolder(context.database, id, nodeId);
  return true;
}
