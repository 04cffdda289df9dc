// The SQL that counts what is published, for the operator's inventory.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

/** Number of published versions, and the bytes of all stored packages as uploaded. */
export async function countPackages(
  db: Kysely<DatabaseSchema>,
): Promise<{ readonly versions: number; readonly bytes: number }> {
  const { rows } = await sql<{ versions: number; bytes: string }>`
    SELECT (SELECT count(*) FROM app_versions)::integer AS versions,
           (SELECT coalesce(sum(size), 0) FROM package_blobs)::text AS bytes`.execute(db);
  const { versions = 0, bytes = '0' } = rows[0] ?? {};
  return { versions, bytes: Number(bytes) };
}
