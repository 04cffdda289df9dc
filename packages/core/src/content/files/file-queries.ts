// All SQL of files.
import type { FileId, InstallationId } from '@platform/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

/** A file, and what says who may do what with it but for entries and transfers. */
export interface FileRow extends Selectable<DatabaseSchema['content_files']> {
  readonly owner_key: string;
  /** Of that account. */
  readonly owner_name: string;
  /** The app whose private file it is. */
  readonly app_id: string | null;
}

const files = sql`
  SELECT f.*, s.owner_key, a.name AS owner_name, i.app_id
    FROM content_files f
    JOIN content_spaces s ON s.id = f.space_id
    JOIN account_states a ON a.key = s.owner_key
    LEFT JOIN kept_installations i ON i.id = f.installation_id`;

export interface Page {
  readonly after: string;
  readonly limit: number;
}

/** Of one app, by name. */
export async function selectOfApp(db: Executor, id: InstallationId, { after, limit }: Page): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    ${files} WHERE f.installation_id = ${id} AND f.name > ${after} ORDER BY f.name LIMIT ${limit}`.execute(db);
  return rows;
}

export async function selectNamed(db: Executor, id: InstallationId, name: string): Promise<FileRow | undefined> {
  const { rows } = await sql<FileRow>`
    ${files} WHERE f.installation_id = ${id} AND f.name = ${name}`.execute(db);
  return rows[0];
}

export async function selectFile(db: Executor, id: FileId): Promise<FileRow | undefined> {
  const { rows } = await sql<FileRow>`${files} WHERE f.id = ${id}`.execute(db);
  return rows[0];
}

/** By id; those that are still there. */
export async function selectFiles(db: Executor, ids: readonly FileId[]): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`${files} WHERE f.id = ANY (${[...ids]}) ORDER BY f.id`.execute(db);
  return rows;
}

/** Of the account itself, by name. */
export async function selectOfAccount(db: Executor, accountKey: string, { after, limit }: Page): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    ${files}
     WHERE s.owner_key = ${accountKey} AND f.installation_id IS NULL AND f.name > ${after}
     ORDER BY f.name LIMIT ${limit}`.execute(db);
  return rows;
}

/** What others opened to the account. */
export async function selectOpenedToAccount(
  db: Executor,
  accountKey: string,
  { after, limit }: Page,
): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    ${files}
     WHERE f.id IN (
       SELECT file_id FROM content_file_entries
        WHERE account_key = ${accountKey} AND file_id > ${after} ORDER BY file_id LIMIT ${limit})
     ORDER BY f.id`.execute(db);
  return rows;
}

/**
 * What others opened to the app, to its account, or its person handed to it: candidates, of which the rule chooses. Each of the three
 * is read as far as the page may need it.
 */
export async function selectOpened(
  db: Executor,
  { accountKey, appId, after, limit }: Page & { readonly accountKey: string; readonly appId: string },
): Promise<FileRow[]> {
  const { rows } = await sql<FileRow>`
    ${files}
     WHERE f.id IN (
       (SELECT file_id FROM content_file_entries
         WHERE account_key = ${accountKey} AND file_id > ${after} ORDER BY file_id LIMIT ${limit})
       UNION
       (SELECT file_id FROM content_transfers
         WHERE account_key = ${accountKey} AND app_id = ${appId} AND file_id > ${after} ORDER BY file_id LIMIT ${limit})
       UNION
       (SELECT file_id FROM content_file_entries
         WHERE owner_key = ${accountKey} AND app_id = ${appId} AND file_id > ${after} ORDER BY file_id LIMIT ${limit}))
     ORDER BY f.id LIMIT ${limit}`.execute(db);
  return rows;
}

/** Of an app, or of the account itself. */
export async function countFiles(
  db: Executor,
  { spaceId, installationId }: { readonly spaceId: string; readonly installationId: InstallationId | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM content_files
     WHERE space_id = ${spaceId} AND installation_id IS NOT DISTINCT FROM ${installationId}`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function insertFile(trx: Executor, row: Insertable<DatabaseSchema['content_files']>): Promise<void> {
  await trx.insertInto('content_files').values(row).execute();
}

export async function updateFile(
  trx: Executor,
  id: FileId,
  change: Partial<
    Pick<
      Insertable<DatabaseSchema['content_files']>,
      'name' | 'media_type' | 'etag' | 'size' | 'body_id' | 'changed_at'
    >
  >,
): Promise<void> {
  await trx.updateTable('content_files').set(change).where('id', '=', id).execute();
}

/** Its body is for the caller to give up. */
export async function deleteFile(trx: Executor, id: FileId): Promise<void> {
  await trx.deleteFrom('content_files').where('id', '=', id).execute();
}

/** Names of the account that begin so. */
export async function selectTakenNames(db: Executor, spaceId: string, stem: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT name FROM content_files
     WHERE space_id = ${spaceId} AND installation_id IS NULL AND starts_with(name, ${stem})`.execute(db);
  return rows.map(({ name }) => name);
}

/** Where the private files of an app lie; `undefined` where it has none. */
export async function selectSpaceOfApp(db: Executor, id: InstallationId): Promise<string | undefined> {
  const row = await db
    .selectFrom('content_files')
    .select('space_id')
    .where('installation_id', '=', id)
    .limit(1)
    .executeTakeFirst();
  return row?.space_id;
}

/** Bodies of the private files of an app. */
export async function selectBodiesOfApp(db: Executor, id: InstallationId): Promise<string[]> {
  const rows = await db.selectFrom('content_files').select('body_id').where('installation_id', '=', id).execute();
  return rows.map((row) => row.body_id);
}

/** Bodies of all files of a space. */
export async function selectBodiesOfSpace(db: Executor, spaceId: string): Promise<string[]> {
  const rows = await db.selectFrom('content_files').select('body_id').where('space_id', '=', spaceId).execute();
  return rows.map((row) => row.body_id);
}
