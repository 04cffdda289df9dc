// All SQL of collections, and of who may do what in them.
import type { CollectionId, ContentRole, InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';

/** An app of an account. */
export interface Asker {
  readonly accountKey: string;
  readonly installationId: InstallationId;
}

/** A collection as seen by an asker. */
export interface CollectionRow {
  readonly id: CollectionId;
  readonly kind: string;
  readonly name: string;
  readonly parent_id: CollectionId | null;
  readonly created_at: Date;
  readonly space_id: string;
  /** `null` once the account of its owner is deleted. */
  readonly owner_key: string | null;
  readonly ends_at: Date | null;
  readonly role: ContentRole | null;
  readonly admitted: boolean;
}

const shown = ({ accountKey, installationId }: Asker, from: string) => sql`
  SELECT c.id, c.kind, c.name, c.parent_id, c.created_at, c.space_id, s.owner_key, s.ends_at, m.role,
         a.installation_id IS NOT NULL AS admitted
    FROM ${sql.raw(from)} found
    JOIN content_collections c ON c.id = found.id
    JOIN content_spaces s ON s.id = c.space_id
    LEFT JOIN content_members m ON m.collection_id = c.id AND m.account_key = ${accountKey}
    LEFT JOIN content_admissions a ON a.collection_id = c.id AND a.installation_id = ${installationId}`;

/** The collection, and those above it up to the outermost; empty without such a collection. */
export async function selectChain(db: Executor, asker: Asker, id: CollectionId): Promise<CollectionRow[]> {
  const { rows } = await sql<CollectionRow>`
    WITH RECURSIVE chain (id, parent_id, height) AS (
      SELECT id, parent_id, 0 FROM content_collections WHERE id = ${id}
      UNION ALL
      SELECT p.id, p.parent_id, chain.height + 1
        FROM chain JOIN content_collections p ON p.id = chain.parent_id
       WHERE chain.height < 64)
    ${shown(asker, 'chain')} ORDER BY found.height`.execute(db);
  return rows;
}

/** The collections that were opened to the app, everything within them, and everything above, by id. */
export async function selectAround(db: Executor, asker: Asker): Promise<CollectionRow[]> {
  const { rows } = await sql<CollectionRow>`
    WITH RECURSIVE below (id) AS (
      SELECT collection_id FROM content_admissions WHERE installation_id = ${asker.installationId}
      UNION
      SELECT c.id FROM below JOIN content_collections c ON c.parent_id = below.id),
    around (id, parent_id) AS (
      SELECT id, parent_id FROM content_collections WHERE id IN (SELECT id FROM below)
      UNION
      SELECT p.id, p.parent_id FROM around JOIN content_collections p ON p.id = around.parent_id)
    ${shown(asker, 'around')} ORDER BY c.id`.execute(db);
  return rows;
}

/** Makes the space of an account, unless it has one. @returns its id */
export async function ensureSpace(trx: Executor, accountKey: string, id: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    WITH made AS (
      INSERT INTO content_spaces (id, owner_key) VALUES (${id}, ${accountKey}) ON CONFLICT DO NOTHING RETURNING id)
    SELECT id FROM made UNION ALL SELECT id FROM content_spaces WHERE owner_key = ${accountKey} LIMIT 1`.execute(trx);
  const [row] = rows;
  // Another one makes it at this moment: its transaction is over, or the insert would still wait.
  return row?.id ?? ensureSpace(trx, accountKey, id);
}

/** Serialises what changes anything in the space. @returns whether it is there */
export async function lockSpace(trx: Executor, spaceId: string): Promise<boolean> {
  const { rows } = await sql`SELECT FROM content_spaces WHERE id = ${spaceId} FOR NO KEY UPDATE`.execute(trx);
  return rows.length > 0;
}

export async function countCollections(db: Executor, spaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM content_collections WHERE space_id = ${spaceId}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** How many collections lie within each other from this one down, itself included. */
export async function heightOf(db: Executor, id: CollectionId): Promise<number> {
  const { rows } = await sql<{ height: number }>`
    WITH RECURSIVE below (id, height) AS (
      SELECT id, 1 FROM content_collections WHERE id = ${id}
      UNION ALL
      SELECT c.id, below.height + 1 FROM below JOIN content_collections c ON c.parent_id = below.id
       WHERE below.height < 64)
    SELECT max(height) AS height FROM below`.execute(db);
  return rows[0]?.height ?? 0;
}

export interface NewCollection {
  readonly id: CollectionId;
  readonly spaceId: string;
  readonly kind: string;
  readonly name: string;
  readonly parentId: CollectionId | null;
  readonly at: Date;
}

export async function insertCollection(trx: Executor, one: NewCollection): Promise<void> {
  await trx
    .insertInto('content_collections')
    .values({
      id: one.id,
      space_id: one.spaceId,
      kind: one.kind,
      name: one.name,
      parent_id: one.parentId,
      created_at: one.at,
    })
    .execute();
}

export async function insertAdmission(
  trx: Executor,
  id: CollectionId,
  installationId: InstallationId,
  at: Date,
): Promise<void> {
  await trx
    .insertInto('content_admissions')
    .values({ collection_id: id, installation_id: installationId, admitted_at: at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateCollection(
  trx: Executor,
  id: CollectionId,
  change: { readonly name?: string | undefined; readonly parentId?: CollectionId | null | undefined },
): Promise<void> {
  await trx
    .updateTable('content_collections')
    .set({
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.parentId === undefined ? {} : { parent_id: change.parentId }),
    })
    .where('id', '=', id)
    .execute();
}

/** The collection and all within it. */
export async function selectBelow(db: Executor, id: CollectionId): Promise<CollectionId[]> {
  const { rows } = await sql<{ id: CollectionId }>`
    WITH RECURSIVE below (id) AS (
      SELECT id FROM content_collections WHERE id = ${id}
      UNION
      SELECT c.id FROM below JOIN content_collections c ON c.parent_id = below.id)
    SELECT id FROM below`.execute(db);
  return rows.map((row) => row.id);
}

/** Of one space, with all that is in them. Gives back what it took. */
export async function deleteCollections(trx: Executor, ids: readonly CollectionId[], overhead: number): Promise<void> {
  // An item goes with its body.
  await sql`
    WITH gone AS (
      DELETE FROM content_bodies b USING content_items i
       WHERE i.collection_id = ANY (${[...ids]}) AND i.body_id = b.id
      RETURNING b.space_id, b.size),
    freed AS (
      SELECT space_id, sum(size + ${overhead})::bigint AS bytes FROM gone GROUP BY space_id)
    UPDATE content_spaces s SET bytes = s.bytes - freed.bytes FROM freed WHERE s.id = freed.space_id`.execute(trx);
  await sql`DELETE FROM content_collections WHERE id = ANY (${[...ids]})`.execute(trx);
}
