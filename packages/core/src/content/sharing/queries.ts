// The SQL of what a person sees of all their collections, and of files that others have.
import type { CollectionId, ContentRole, FileId, MemberId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';
import type { Page } from '../files/file-queries.ts';

export interface KnownCollection {
  readonly id: CollectionId;
  readonly kind: string;
  readonly name: string;
  readonly parent_id: CollectionId | null;
  readonly created_at: Date;
  readonly items: number;
  readonly owner_key: string | null;
  readonly owner_name: string | null;
  readonly ends_at: Date | null;
  readonly member_id: MemberId | null;
  readonly role: ContentRole | null;
  readonly members: number;
  readonly apps: readonly string[];
}

/** Those of the account, and those in which it has a role, by id. */
export async function selectOfPerson(
  db: Executor,
  accountKey: string,
  { after, limit }: Page,
): Promise<KnownCollection[]> {
  const { rows } = await sql<KnownCollection>`
    SELECT c.id, c.kind, c.name, c.parent_id, c.created_at, c.items, s.owner_key, a.name AS owner_name, s.ends_at,
           m.id AS member_id, m.role,
           (SELECT count(*)::integer FROM content_members o WHERE o.collection_id = c.id AND o.role <> 'owner') AS members,
           ARRAY(SELECT i.app_id FROM content_admissions d JOIN installed_apps i ON i.id = d.installation_id
                  WHERE d.collection_id = c.id AND i.account_key = ${accountKey} ORDER BY i.app_id) AS apps
      FROM content_collections c
      JOIN content_spaces s ON s.id = c.space_id
      LEFT JOIN account_states a ON a.key = s.owner_key
      LEFT JOIN content_members m ON m.collection_id = c.id AND m.account_key = ${accountKey}
     WHERE c.id > ${after}
       AND c.id IN (
         SELECT o.id FROM content_spaces own JOIN content_collections o ON o.space_id = own.id
          WHERE own.owner_key = ${accountKey}
         UNION
         SELECT n.collection_id FROM content_members n WHERE n.account_key = ${accountKey})
     ORDER BY c.id LIMIT ${limit}`.execute(db);
  return rows;
}

export interface PersonsLink {
  readonly id: CollectionId;
  readonly space_id: string;
  readonly owner_key: string | null;
  readonly ends_at: Date | null;
  /** Of the account, in this very collection. */
  readonly role: ContentRole | null;
}

/** The collection, and those above it up to the outermost; empty without such a collection. */
export async function selectChainOfPerson(db: Executor, accountKey: string, id: CollectionId): Promise<PersonsLink[]> {
  const { rows } = await sql<PersonsLink>`
    WITH RECURSIVE chain (id, parent_id, height) AS (
      SELECT id, parent_id, 0 FROM content_collections WHERE id = ${id}
      UNION ALL
      SELECT p.id, p.parent_id, chain.height + 1
        FROM chain JOIN content_collections p ON p.id = chain.parent_id
       WHERE chain.height < 64)
    SELECT c.id, c.space_id, s.owner_key, s.ends_at, m.role
      FROM chain
      JOIN content_collections c ON c.id = chain.id
      JOIN content_spaces s ON s.id = c.space_id
      LEFT JOIN content_members m ON m.collection_id = c.id AND m.account_key = ${accountKey}
     ORDER BY chain.height`.execute(db);
  return rows;
}

/** Files of the account and its apps that are open to anybody else, and what the account handed to its apps of others, by id. */
export async function selectOpenIds(db: Executor, accountKey: string, { after, limit }: Page): Promise<FileId[]> {
  const { rows } = await sql<{ id: FileId }>`
    SELECT id FROM (
      SELECT t.file_id AS id FROM content_transfers t WHERE t.account_key = ${accountKey}
      UNION
      SELECT e.file_id FROM content_spaces own
        JOIN content_files f ON f.space_id = own.id
        JOIN content_file_entries e ON e.file_id = f.id
       WHERE own.owner_key = ${accountKey}) AS open
     WHERE id > ${after} ORDER BY id LIMIT ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** `null` in both: of all. @returns how many there were */
export async function deleteEntries(
  trx: Executor,
  id: FileId,
  { appId, accountKey }: { readonly appId: string | null; readonly accountKey: string | null },
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM content_file_entries
     WHERE file_id = ${id}
       AND (${appId}::text IS NULL OR app_id = ${appId})
       AND (${accountKey}::text IS NULL OR account_key = ${accountKey})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

/** What the account handed over of the file. @param appId `null`: to all apps. @returns how many there were */
export async function deleteTransfersOf(
  trx: Executor,
  id: FileId,
  { accountKey, appId }: { readonly accountKey: string; readonly appId: string | null },
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM content_transfers
     WHERE file_id = ${id} AND account_key = ${accountKey} AND (${appId}::text IS NULL OR app_id = ${appId})`.execute(
    trx,
  );
  return Number(numAffectedRows ?? 0n);
}
