// All SQL of items of collections, and of what changed.
import type { CollectionId } from '@platform/contract';
import { type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

type ItemRow = Selectable<DatabaseSchema['content_items']>;

/** An item that is there. */
export interface KnownItem {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
  readonly body_id: string;
  readonly changed_at: Date;
}

export interface ItemPlace {
  readonly collectionId: CollectionId;
  readonly key: string;
}

export async function selectItem(db: Executor, { collectionId, key }: ItemPlace): Promise<KnownItem | undefined> {
  const row = await db
    .selectFrom('content_items')
    .select(['key', 'etag', 'size', 'body_id', 'changed_at'])
    .where('collection_id', '=', collectionId)
    .where('key', '=', key)
    .where('etag', 'is not', null)
    .executeTakeFirst();
  return row as KnownItem | undefined;
}

/** After the key, by key. */
export async function selectItems(
  db: Executor,
  collectionId: CollectionId,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<KnownItem[]> {
  const { rows } = await sql<KnownItem>`
    SELECT key, etag, size, body_id, changed_at FROM content_items
     WHERE collection_id = ${collectionId} AND key > ${after} AND etag IS NOT NULL ORDER BY key LIMIT ${limit}`.execute(
    db,
  );
  return rows;
}

/** Takes the number of the next change, and counts what it adds. @returns the number, and how many there are then */
export async function nextChange(
  trx: Executor,
  id: CollectionId,
  more: { readonly items: number; readonly deletions: number },
): Promise<{ readonly change: string; readonly items: number; readonly deletions: number }> {
  const { rows } = await sql<{ change: string; items: number; deletions: number }>`
    UPDATE content_collections
       SET change = change + 1, items = items + ${more.items}, deletions = deletions + ${more.deletions}
     WHERE id = ${id} RETURNING change, items, deletions`.execute(trx);
  const [row] = rows;
  if (row === undefined) throw new Error('the collection is locked and gone');
  return row;
}

/** @returns whether the key was one that is deleted before */
export async function isKnownDeleted(db: Executor, { collectionId, key }: ItemPlace): Promise<boolean> {
  const row = await db
    .selectFrom('content_items')
    .select('key')
    .where('collection_id', '=', collectionId)
    .where('key', '=', key)
    .where('etag', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

export async function writeItem(trx: Executor, row: ItemRow): Promise<void> {
  const { change, changed_at, etag, size, body_id } = row;
  await trx
    .insertInto('content_items')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['collection_id', 'key']).doUpdateSet({ change, changed_at, etag, size, body_id }),
    )
    .execute();
}

/** Forgets the oldest deletions. @param count how many */
export async function forgetDeletions(trx: Executor, id: CollectionId, count: number): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM content_items
       WHERE collection_id = ${id}
         AND key IN (SELECT key FROM content_items WHERE collection_id = ${id} AND etag IS NULL
                      ORDER BY change LIMIT ${count})
      RETURNING change)
    UPDATE content_collections
       SET deletions = deletions - (SELECT count(*) FROM gone)::integer,
           forgotten = greatest(forgotten, (SELECT max(change) FROM gone))
     WHERE id = ${id}`.execute(trx);
}

export interface ChangeRow {
  readonly key: string;
  readonly change: string;
  readonly etag: string | null;
  readonly changed_at: Date;
}

/**
 * Each item whose newest change comes after this number, in their order, and up to which change deletions may be forgotten: as of one
 * moment, so that none is forgotten in between.
 */
export async function selectChanges(
  db: Executor,
  id: CollectionId,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ readonly rows: ChangeRow[]; readonly forgotten: string }> {
  const { rows } = await sql<ChangeRow & { readonly forgotten: string }>`
    SELECT i.*, c.forgotten
      FROM content_collections c
      LEFT JOIN LATERAL (
        SELECT key, change, etag, changed_at FROM content_items
         WHERE collection_id = c.id AND change > ${after} ORDER BY change LIMIT ${limit}) i ON true
     WHERE c.id = ${id} ORDER BY i.change`.execute(db);
  const isChange = ({ key }: { readonly key: string | null }) => key !== null;
  return { rows: rows.filter(isChange), forgotten: rows[0]?.forgotten ?? '0' };
}
