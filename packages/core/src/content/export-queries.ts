// The SQL of what an export has of collections.
import type { CollectionId, ContentRole } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

export interface OwnCollection {
  readonly id: CollectionId;
  readonly kind: string;
  readonly name: string;
  readonly parent_id: CollectionId | null;
  readonly created_at: Date;
}

/** After the one of this id. */
export async function selectOwn(
  db: Executor,
  accountKey: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<OwnCollection[]> {
  const { rows } = await sql<OwnCollection>`
    SELECT c.id, c.kind, c.name, c.parent_id, c.created_at
      FROM content_spaces s JOIN content_collections c ON c.space_id = s.id
     WHERE s.owner_key = ${accountKey} AND c.id > ${after} ORDER BY c.id LIMIT ${limit}`.execute(db);
  return rows;
}

/** Collections of others in which the account is a member. */
export async function selectMemberships(
  db: Executor,
  accountKey: string,
): Promise<{ readonly id: CollectionId; readonly kind: string; readonly name: string; readonly role: ContentRole }[]> {
  const { rows } = await sql<{ id: CollectionId; kind: string; name: string; role: ContentRole }>`
    SELECT c.id, c.kind, c.name, m.role
      FROM content_members m JOIN content_collections c ON c.id = m.collection_id
     WHERE m.account_key = ${accountKey} AND m.role <> 'owner' ORDER BY c.id`.execute(db);
  return rows;
}
