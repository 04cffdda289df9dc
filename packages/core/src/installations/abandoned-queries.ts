// All SQL of volumes whose installations are gone.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** All volumes of an account, before its installations are deleted. */
export async function insertAbandonedVolumes(trx: Executor, accountKey: string, now: Date): Promise<void> {
  await sql`
    INSERT INTO abandoned_volumes (installation_id, node_id, volume_store, due_at)
    SELECT id, node_id, volume_store, ${now} FROM installations WHERE account_key = ${accountKey} AND has_volume`.execute(
    trx,
  );
}

export interface AbandonedVolume {
  readonly id: InstallationId;
  /** A node that reaches it: the one on which it lies, or another one with its shared store. `null`: none does. */
  readonly nodeId: string | null;
  readonly attempts: number;
}

/** Takes volumes whose deletion is due, until `until`. */
export async function claimAbandonedVolumes(
  db: Executor,
  { now, until, atMost }: { readonly now: Date; readonly until: Date; readonly atMost: number },
): Promise<AbandonedVolume[]> {
  const { rows } = await sql<AbandonedVolume>`
    UPDATE abandoned_volumes v SET due_at = ${until}, attempts = attempts + 1
     WHERE installation_id IN (
       SELECT installation_id FROM abandoned_volumes WHERE due_at <= ${now}
        ORDER BY due_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
    RETURNING installation_id AS id, attempts,
      (SELECT n.id FROM known_nodes n WHERE n.id = v.node_id OR n.shared_store = v.volume_store
        ORDER BY n.lost_at IS NOT NULL, n.id <> v.node_id LIMIT 1) AS "nodeId"`.execute(db);
  return rows;
}

export async function nextAbandonedVolume(db: Executor): Promise<Date | null> {
  const row = await db
    .selectFrom('abandoned_volumes')
    .select(({ fn }) => fn.min('due_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? null;
}

export async function postponeAbandonedVolume(db: Executor, id: InstallationId, dueAt: Date): Promise<void> {
  await db.updateTable('abandoned_volumes').set({ due_at: dueAt }).where('installation_id', '=', id).execute();
}

export async function forgetAbandonedVolume(db: Executor, id: InstallationId): Promise<void> {
  await db.deleteFrom('abandoned_volumes').where('installation_id', '=', id).execute();
}
