// The SQL of what an export has of collections and files.
import type { CollectionId, ContentRole, InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';

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

interface Membership {
  readonly id: CollectionId;
  readonly kind: string;
  readonly name: string;
  readonly role: ContentRole;
  /** Ids of the account's apps that it is open to. */
  readonly apps: readonly string[];
}

const admittedApps = (accountKey: string) => sql`
  ARRAY(SELECT i.app_id FROM content_admissions a JOIN kept_installations i ON i.id = a.installation_id
         WHERE a.collection_id = c.id AND i.account_key = ${accountKey} ORDER BY i.app_id)`;

/** The account's apps that the collection itself is open to. */
export async function selectAdmittedApps(db: Executor, accountKey: string, id: CollectionId): Promise<string[]> {
  const { rows } = await sql<{ apps: string[] }>`
    SELECT ${admittedApps(accountKey)} AS apps FROM content_collections c WHERE c.id = ${id}`.execute(db);
  return rows[0]?.apps ?? [];
}

/** Collections of others in which the account is a member. */
export async function selectMemberships(db: Executor, accountKey: string): Promise<Membership[]> {
  const { rows } = await sql<Membership>`
    SELECT c.id, c.kind, c.name, m.role, ${admittedApps(accountKey)} AS apps
      FROM content_members m JOIN content_collections c ON c.id = m.collection_id
     WHERE m.account_key = ${accountKey} AND m.role <> 'owner' ORDER BY c.id`.execute(db);
  return rows;
}

/** Installations of the account that have files, by app; removed ones whose data is kept are among them. */
export async function selectAppsWithFiles(
  db: Executor,
  accountKey: string,
): Promise<{ readonly id: InstallationId; readonly appId: string }[]> {
  const { rows } = await sql<{ id: InstallationId; appId: string }>`
    SELECT i.id, i.app_id AS "appId" FROM kept_installations i
     WHERE i.account_key = ${accountKey} AND EXISTS (SELECT FROM content_files f WHERE f.installation_id = i.id)
     ORDER BY i.app_id`.execute(db);
  return rows;
}
