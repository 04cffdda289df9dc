// The SQL that takes a version out of the catalog.
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

/** Deletes the record of a package that no version refers to any more. */
export async function deleteUnusedBlob(trx: Executor, hash: string): Promise<void> {
  await sql`
    DELETE FROM package_blobs b
     WHERE b.hash = ${hash} AND NOT EXISTS (SELECT FROM app_versions v WHERE v.package_hash = b.hash)`.execute(trx);
}
