// The SQL that takes a version out of the catalog.
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/** Deletes a version that was never installed. @returns the hash of its package, or `undefined` when it was kept */
export async function deleteVersion(trx: Executor, appId: string, version: string): Promise<string | undefined> {
  const { rows } = await sql<{ hash: string }>`
    DELETE FROM app_versions v
     WHERE v.app_id = ${appId} AND v.version = ${version}
       AND NOT EXISTS (SELECT FROM installations i WHERE i.app_id = v.app_id AND i.version = v.version)
    RETURNING package_hash AS hash`.execute(trx);
  return rows[0]?.hash;
}

/** Deletes the record of a package that no version refers to any more. */
export async function deleteUnusedBlob(trx: Executor, hash: string): Promise<void> {
  await sql`
    DELETE FROM package_blobs b
     WHERE b.hash = ${hash} AND NOT EXISTS (SELECT FROM app_versions v WHERE v.package_hash = b.hash)`.execute(trx);
}
