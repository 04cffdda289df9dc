// All SQL of data of apps that is being deleted.
import type { InstallationId } from '@platform/contract';
import { JobTable } from '../background/job-queries.ts';
import type { Executor } from '../database/schema.ts';

export const dataDeletions = new JobTable<InstallationId>('data_deletions', 'installation_id');

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
  readonly accountKey: string;
  readonly hasVolume: boolean;
  /** `null` when its node was removed, or it never had one. */
  readonly nodeId: string | null;
}

/** `undefined` when the installation is gone, and with it the deletion. */
export function selectDataDeletion(db: Executor, id: InstallationId): Promise<DataDeletion | undefined> {
  return db
    .selectFrom('data_deletions as d')
    .innerJoin('installations as i', 'i.id', 'd.installation_id')
    .select(['i.account_key as accountKey', 'i.has_volume as hasVolume', 'i.node_id as nodeId'])
    .where('d.installation_id', '=', id)
    .executeTakeFirst();
}
