// All SQL of volumes whose installations are gone.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import { JobTable } from '../background/job-queries.ts';
import type { Executor } from '../database/schema.ts';

export const abandonedVolumes = new JobTable<InstallationId>('abandoned_volumes', 'installation_id');

/** All volumes of an account, before its installations are deleted. */
export async function insertAbandonedVolumes(trx: Executor, accountKey: string, now: Date): Promise<void> {
  await sql`
    INSERT INTO abandoned_volumes (installation_id, node_id, volume_store, due_at)
    SELECT id, node_id, volume_store, ${now} FROM installations WHERE account_key = ${accountKey} AND has_volume`.execute(
    trx,
  );
}

/** A node that reaches the volume: the one on which it lies, or another one with its shared store. `null`: none does. */
export async function findNodeOfVolume(db: Executor, id: InstallationId): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    SELECT n.id FROM abandoned_volumes v JOIN known_nodes n ON n.id = v.node_id OR n.shared_store = v.volume_store
     WHERE v.installation_id = ${id}
     ORDER BY n.lost_at IS NOT NULL, n.id <> v.node_id LIMIT 1`.execute(db);
  return rows[0]?.id ?? null;
}
