// All SQL of the members of collections.
import type { CollectionId, ContentRole, MemberId } from '@platform/contract';
import { type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export type MemberRow = Selectable<DatabaseSchema['content_members']>;

export async function insertMember(trx: Executor, row: MemberRow): Promise<void> {
  await trx.insertInto('content_members').values(row).execute();
}

/** Of who is a member already, the stronger role stays. */
export async function strengthenMember(trx: Executor, row: MemberRow): Promise<void> {
  await sql`
    INSERT INTO content_members (id, collection_id, account_key, role, since)
    VALUES (${row.id}, ${row.collection_id}, ${row.account_key}, ${row.role}, ${row.since})
    ON CONFLICT (collection_id, account_key) DO UPDATE SET role = EXCLUDED.role
     WHERE array_position(ARRAY['viewer', 'editor', 'manager', 'owner'], EXCLUDED.role)
         > array_position(ARRAY['viewer', 'editor', 'manager', 'owner'], content_members.role)`.execute(trx);
}

export interface KnownMember extends MemberRow {
  /** Of the account. */
  readonly name: string;
}

/** Those of any of the collections, oldest first. */
export async function selectMembers(db: Executor, ids: readonly CollectionId[]): Promise<KnownMember[]> {
  const { rows } = await sql<KnownMember>`
    SELECT m.*, a.name
      FROM content_members m JOIN account_states a ON a.key = m.account_key
     WHERE m.collection_id = ANY (${[...ids]})
     ORDER BY m.since, m.id`.execute(db);
  return rows;
}

/** The strongest role of the account in any of the collections is for the caller to find. */
export async function selectRoles(
  db: Executor,
  ids: readonly CollectionId[],
  accountKey: string,
): Promise<ContentRole[]> {
  const rows = await db
    .selectFrom('content_members')
    .select('role')
    .where('collection_id', 'in', [...ids])
    .where('account_key', '=', accountKey)
    .execute();
  return rows.map(({ role }) => role);
}

export async function selectMember(
  db: Executor,
  collectionId: CollectionId,
  id: MemberId,
): Promise<MemberRow | undefined> {
  return db
    .selectFrom('content_members')
    .selectAll()
    .where('collection_id', '=', collectionId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** What the account may do in any of these itself; of what it owns it stays the owner. */
export async function deleteRoles(trx: Executor, ids: readonly CollectionId[], accountKey: string): Promise<void> {
  await sql`
    DELETE FROM content_members
     WHERE collection_id = ANY (${[...ids]}) AND account_key = ${accountKey} AND role <> 'owner'`.execute(trx);
}

/** The apps of the account for which these collections were opened by an invitation; who lost access has none. */
export async function deleteAdmissionsOf(
  trx: Executor,
  ids: readonly CollectionId[],
  accountKey: string,
): Promise<void> {
  await sql`
    DELETE FROM content_admissions a USING kept_installations i
     WHERE a.collection_id = ANY (${[...ids]}) AND i.id = a.installation_id AND i.account_key = ${accountKey}`.execute(
    trx,
  );
}

/** Members and invited people of one collection. */
export async function countMembers(db: Executor, id: CollectionId): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT ((SELECT count(*) FROM content_members WHERE collection_id = ${id})
          + (SELECT count(*) FROM content_invitations WHERE collection_id = ${id} AND answer IS NULL))::integer AS count`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** Collections of others in which the account is a member itself. */
export async function countMemberships(db: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM content_members WHERE account_key = ${accountKey} AND role <> 'owner'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** Others than the owner who are members of any of these. */
export async function selectMemberKeys(db: Executor, ids: readonly CollectionId[]): Promise<string[]> {
  const { rows } = await sql<{ account_key: string }>`
    SELECT DISTINCT account_key FROM content_members
     WHERE collection_id = ANY (${[...ids]}) AND role <> 'owner'`.execute(db);
  return rows.map((row) => row.account_key);
}
