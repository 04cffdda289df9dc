// All SQL of who may do what with a file.
import type { FileAccess, FileId, FileTransfer } from '@platform/contract';
import { type Insertable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export interface EntryRow {
  readonly file_id: FileId;
  readonly app_id: string | null;
  readonly account_key: string | null;
  /** Of that account. */
  readonly name: string | null;
  readonly access: FileAccess;
}

/** In the order in which they are shown. */
export async function selectEntries(db: Executor, ids: readonly FileId[]): Promise<EntryRow[]> {
  const { rows } = await sql<EntryRow>`
    SELECT e.file_id, e.app_id, e.account_key, a.name, e.access
      FROM content_file_entries e LEFT JOIN account_states a ON a.key = e.account_key
     WHERE e.file_id = ANY (${[...ids]}) ORDER BY e.app_id, a.name`.execute(db);
  return rows;
}

/** Of those entries the ones that name the account or the app: others may be many, and open nothing to them. */
export async function selectEntriesFor(
  db: Executor,
  ids: readonly FileId[],
  { accountKey, appId }: { readonly accountKey: string; readonly appId: string | null },
): Promise<Omit<EntryRow, 'name'>[]> {
  return db
    .selectFrom('content_file_entries')
    .select(['file_id', 'app_id', 'account_key', 'access'])
    .where('file_id', 'in', ids)
    .where((entry) => entry.or([entry('account_key', '=', accountKey), entry('app_id', '=', appId)]))
    .execute();
}

export async function replaceEntries(
  trx: Executor,
  { id, owner_key }: { readonly id: FileId; readonly owner_key: string },
  entries: readonly Omit<Insertable<DatabaseSchema['content_file_entries']>, 'file_id' | 'owner_key'>[],
): Promise<void> {
  await trx.deleteFrom('content_file_entries').where('file_id', '=', id).execute();
  if (entries.length === 0) return;
  await trx
    .insertInto('content_file_entries')
    .values(entries.map((entry) => ({ ...entry, file_id: id, owner_key })))
    .execute();
}

/** How many files are open to each of these accounts: of one owner, and of all. */
export async function countOpened(
  db: Executor,
  ownerKey: string,
  named: readonly string[],
): Promise<{ readonly name: string; readonly byOwner: number; readonly byAll: number }[]> {
  const { rows } = await sql<{ name: string; byOwner: number; byAll: number }>`
    SELECT a.name,
           (SELECT count(*) FROM content_file_entries e
             WHERE e.owner_key = ${ownerKey} AND e.account_key = a.key)::integer AS "byOwner",
           (SELECT count(*) FROM content_file_entries e WHERE e.account_key = a.key)::integer AS "byAll"
      FROM account_states a WHERE a.key = ANY (${[...named]})`.execute(db);
  return rows;
}

/** Of what was opened to the account: one file, or all of an owner. */
type Opened = { readonly id: FileId } | { readonly ownerKey: string };

/** Where it lies; `undefined` where nothing was opened. */
export async function selectSpaceOfOpened(
  db: Executor,
  accountKey: string,
  which: Opened,
): Promise<string | undefined> {
  const { rows } = await sql<{ space_id: string }>`
    SELECT f.space_id FROM content_file_entries e JOIN content_files f ON f.id = e.file_id
     WHERE e.account_key = ${accountKey}
       AND ${'id' in which ? sql`e.file_id = ${which.id}` : sql`e.owner_key = ${which.ownerKey}`} LIMIT 1`.execute(db);
  return rows[0]?.space_id;
}

/** @returns whether there was any */
export async function deleteOpened(db: Executor, accountKey: string, which: Opened): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('content_file_entries')
    .where('account_key', '=', accountKey)
    .where((entry) => ('id' in which ? entry('file_id', '=', which.id) : entry('owner_key', '=', which.ownerKey)))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What the account handed over of files that others opened to it: one, or all of an owner. */
export async function deleteTransfersOfOthers(db: Executor, accountKey: string, which: Opened): Promise<void> {
  await sql`
    DELETE FROM content_transfers t USING content_files f JOIN content_spaces s ON s.id = f.space_id
     WHERE t.account_key = ${accountKey} AND f.id = t.file_id AND s.owner_key <> ${accountKey}
       AND ${'id' in which ? sql`f.id = ${which.id}` : sql`s.owner_key = ${which.ownerKey}`}`.execute(db);
}

export interface TransferRow {
  readonly file_id: FileId;
  /** Of the file. */
  readonly name: string;
  readonly account_key: string;
  readonly app_id: string;
  readonly access: FileTransfer['access'];
  readonly since: Date;
}

/** What one account handed over of these files. */
export async function selectTransfers(
  db: Executor,
  ids: readonly FileId[],
  accountKey: string,
): Promise<TransferRow[]> {
  const { rows } = await sql<TransferRow>`
    SELECT t.*, f.name FROM content_transfers t JOIN content_files f ON f.id = t.file_id
     WHERE t.file_id = ANY (${[...ids]}) AND t.account_key = ${accountKey}`.execute(db);
  return rows;
}

/** All that an account handed over, newest first. */
export async function selectAllTransfers(db: Executor, accountKey: string): Promise<TransferRow[]> {
  const { rows } = await sql<TransferRow>`
    SELECT t.*, f.name FROM content_transfers t JOIN content_files f ON f.id = t.file_id
     WHERE t.account_key = ${accountKey} ORDER BY t.since DESC, t.file_id, t.app_id`.execute(db);
  return rows;
}

export async function countTransfers(db: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM content_transfers WHERE account_key = ${accountKey}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Of a file that the app has already, the stronger access stays. */
export async function insertTransfer(
  trx: Executor,
  row: Insertable<DatabaseSchema['content_transfers']>,
): Promise<void> {
  await sql`
    INSERT INTO content_transfers (file_id, account_key, app_id, access, since)
    VALUES (${row.file_id}, ${row.account_key}, ${row.app_id}, ${row.access}, ${row.since})
    ON CONFLICT (file_id, account_key, app_id) DO UPDATE SET access = EXCLUDED.access
     WHERE EXCLUDED.access = 'write'`.execute(trx);
}

/** @returns whether there was one */
export async function deleteTransfer(
  db: Executor,
  row: { readonly id: FileId; readonly accountKey: string; readonly appId: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('content_transfers')
    .where('file_id', '=', row.id)
    .where('account_key', '=', row.accountKey)
    .where('app_id', '=', row.appId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Whoever removes an app wants to hand it nothing any more. */
export async function deleteTransfersTo(
  trx: Executor,
  to: { readonly accountKey: string; readonly appId: string },
): Promise<void> {
  await trx
    .deleteFrom('content_transfers')
    .where('account_key', '=', to.accountKey)
    .where('app_id', '=', to.appId)
    .execute();
}

/** Whose an installation is, removed or not. */
export async function selectInstalledApp(
  db: Executor,
  installationId: string,
): Promise<{ readonly accountKey: string; readonly appId: string } | undefined> {
  const { rows } = await sql<{ accountKey: string; appId: string }>`
    SELECT account_key AS "accountKey", app_id AS "appId" FROM kept_installations WHERE id = ${installationId}`.execute(
    db,
  );
  return rows[0];
}
