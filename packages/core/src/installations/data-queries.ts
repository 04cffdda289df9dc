// All SQL of data of apps that is being deleted.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** @returns false when it is being deleted already */
export async function insertDataDeletion(trx: Executor, id: InstallationId, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('data_deletions')
    .values({ installation_id: id, requested_at: now, due_at: now })
    .onConflict((conflict) => conflict.column('installation_id').doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

export async function isDataBeingDeleted(db: Executor, id: InstallationId): Promise<boolean> {
  const row = await db
    .selectFrom('data_deletions')
    .select('installation_id')
    .where('installation_id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

export interface DataDeletion {
  readonly id: InstallationId;
  readonly accountKey: string;
  readonly hasVolume: boolean;
  /** `null` when its node was removed, or it never had one. */
  readonly nodeId: string | null;
  readonly attempts: number;
}

/** Takes deletions that are due, until `until`. */
export async function claimDataDeletions(
  db: Executor,
  { now, until, atMost }: { readonly now: Date; readonly until: Date; readonly atMost: number },
): Promise<DataDeletion[]> {
  const { rows } = await sql<DataDeletion>`
    UPDATE data_deletions d SET due_at = ${until}, attempts = attempts + 1
      FROM installations i
     WHERE i.id = d.installation_id AND d.installation_id IN (
       SELECT installation_id FROM data_deletions WHERE due_at <= ${now}
        ORDER BY due_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
    RETURNING i.id, i.account_key AS "accountKey", i.has_volume AS "hasVolume", i.node_id AS "nodeId", d.attempts`.execute(
    db,
  );
  return rows;
}

export async function nextDataDeletion(db: Executor): Promise<Date | null> {
  const row = await db
    .selectFrom('data_deletions')
    .select(({ fn }) => fn.min('due_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? null;
}

export async function postponeDataDeletion(db: Executor, id: InstallationId, dueAt: Date): Promise<void> {
  await db.updateTable('data_deletions').set({ due_at: dueAt }).where('installation_id', '=', id).execute();
}

/** @returns false when it has ended already */
export async function endDataDeletion(trx: Executor, id: InstallationId): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('data_deletions')
    .where('installation_id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
