// The SQL that takes a version out of the catalog, and of what stays known of it.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** Locks a version against installation until the transaction ends. @returns whether it is published */
export async function lockVersion(trx: Executor, appId: string, version: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM app_versions WHERE app_id = ${appId} AND version = ${version} FOR UPDATE`.execute(trx);
  return rows.length > 0;
}

/**
 * Deletes a version that is locked. Removed apps keep their identity and their volume, and forget which version they
 * were.
 *
 * @returns the hash of its package, or `undefined` when it is installed
 */
export async function deleteVersion(trx: Executor, appId: string, version: string): Promise<string | undefined> {
  const { rows: installed } = await sql`
    SELECT FROM installations
     WHERE app_id = ${appId} AND version = ${version} AND removed_at IS NULL LIMIT 1`.execute(trx);
  if (installed.length > 0) return undefined;
  await sql`
    UPDATE installations SET version = NULL
     WHERE app_id = ${appId} AND version = ${version} AND removed_at IS NOT NULL`.execute(trx);
  const { rows } = await sql<{ hash: string }>`
    DELETE FROM app_versions WHERE app_id = ${appId} AND version = ${version}
    RETURNING package_hash AS hash`.execute(trx);
  return rows[0]?.hash;
}

/** Keeps what the number of a deleted version stands for. */
export async function rememberWithdrawn(
  trx: Executor,
  { appId, version, hash }: { readonly appId: string; readonly version: string; readonly hash: string },
): Promise<void> {
  await sql`
    INSERT INTO withdrawn_versions (app_id, version, package_hash) VALUES (${appId}, ${version}, ${hash})
    ON CONFLICT DO NOTHING`.execute(trx);
}

/** @returns the hash of the package that this version was before it was deleted, if it ever was */
export async function findWithdrawn(trx: Executor, appId: string, version: string): Promise<string | undefined> {
  const { rows } = await sql<{ hash: string }>`
    SELECT package_hash AS hash FROM withdrawn_versions
     WHERE app_id = ${appId} AND version = ${version}`.execute(trx);
  return rows[0]?.hash;
}

/** How many apps an account has, and how many versions one of them has or had. */
export async function countPublished(
  trx: Executor,
  { ownerKey, appId }: { readonly ownerKey: string; readonly appId: string },
): Promise<{ readonly apps: number; readonly versions: number }> {
  const { rows } = await sql<{ apps: number; versions: number }>`
    SELECT (SELECT count(*) FROM apps WHERE owner_key = ${ownerKey})::integer AS apps,
           (SELECT count(*)
              FROM (SELECT version FROM app_versions WHERE app_id = ${appId}
                    UNION SELECT version FROM withdrawn_versions WHERE app_id = ${appId}) AS every)::integer
             AS versions`.execute(trx);
  return rows[0] ?? { apps: 0, versions: 0 };
}

/** Deletes the record of a package that no version refers to any more. */
export async function deleteUnusedBlob(trx: Executor, hash: string): Promise<void> {
  await sql`
    DELETE FROM package_blobs b
     WHERE b.hash = ${hash} AND NOT EXISTS (SELECT FROM app_versions v WHERE v.package_hash = b.hash)`.execute(trx);
}
