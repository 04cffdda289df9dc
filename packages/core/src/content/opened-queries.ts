// The SQL of what permissions for collections and files open.
import type { CollectionId, Opened } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import { countOpened } from '../opened.ts';

/** Of these collections together. */
export async function countItems(db: Executor, ids: readonly CollectionId[]): Promise<number> {
  const { rows } = await sql<{ items: number }>`
    SELECT coalesce(sum(items), 0)::integer AS items FROM content_collections WHERE id = ANY (${[...ids]})`.execute(db);
  return rows[0]?.items ?? 0;
}

/** Of the account itself. */
export function countUserFiles(db: Executor, accountKey: string): Promise<Opened> {
  return countOpened(
    db,
    'files',
    sql`SELECT FROM content_files f JOIN content_spaces s ON s.id = f.space_id
         WHERE s.owner_key = ${accountKey} AND f.installation_id IS NULL`,
  );
}
