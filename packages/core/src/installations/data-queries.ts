// All SQL of data of apps that is being deleted.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import { everyRow } from '../account-files.ts';
import { JobTable } from '../background/job-queries.ts';
import type { Executor } from '../database/schema.ts';
import { volumeMiB } from '../disk/face.ts';

const MOST_AT_ONCE = 100;

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

/** What an installed or removed app may keep outside the database. */
export interface StoredRow {
  readonly id: InstallationId;
  readonly appId: string;
  /** Of the app, its id when no version is left. */
  readonly name: string;
  readonly hasVolume: boolean;
  /** Of the volume. */
  readonly limitBytes: number;
  readonly mayHaveObjects: boolean;
}

/** The largest volumes first. */
export async function selectStored(
  db: Executor,
  { accountKey, limit }: { readonly accountKey: string; readonly limit: number },
): Promise<StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    SELECT i.id, i.app_id AS "appId", coalesce(v.manifest ->> 'name', i.app_id) AS name, i.has_volume AS "hasVolume",
           ${volumeMiB} * 1048576::float8 AS "limitBytes", p.installation_id IS NOT NULL AS "mayHaveObjects"
      FROM installations i
      LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN object_owners p ON p.installation_id = i.id
     WHERE i.account_key = ${accountKey} AND (i.has_volume OR p.installation_id IS NOT NULL)
     ORDER BY "limitBytes" DESC, i.app_id LIMIT ${limit}`.execute(db);
  return rows;
}

/** A volume of an account, by the app it belongs to. */
export interface OwnVolume {
  readonly appId: string;
  readonly id: InstallationId;
}

/** The volumes of an account, also of removed apps; not those that are being deleted. */
export async function* everyVolume(db: Executor, accountKey: string): AsyncGenerator<OwnVolume> {
  yield* everyRow((last) =>
    db
      .selectFrom('installations as i')
      .leftJoin('data_deletions as d', 'd.installation_id', 'i.id')
      .select(['i.app_id as appId', 'i.id'])
      .where('i.account_key', '=', accountKey)
      .where('i.has_volume', '=', true)
      .where('d.installation_id', 'is', null)
      .where('i.app_id', '>', last?.appId ?? '')
      .orderBy('i.app_id')
      .limit(MOST_AT_ONCE)
      .execute(),
  );
}
