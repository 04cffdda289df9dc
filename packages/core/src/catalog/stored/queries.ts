// The SQL of packages as they are stored.
import { sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';

export interface StoredPackage {
  /** SHA-256 of the package, hexadecimal. */
  readonly hash: string;
  readonly size: number;
  /** By what its unpacked frontend is recognised; `null` where that is not known yet, and without one. */
  readonly frontendDigest: string | null;
  readonly hasFrontend: boolean;
  /** `<app> <version>`, for the operator; one package may be published as several. */
  readonly names: readonly string[];
}

const columns = sql`
  b.hash, b.size::float8 AS size, b.frontend_digest AS "frontendDigest",
  coalesce(bool_or(v.manifest ? 'frontend'), false) AS "hasFrontend",
  coalesce(array_agg(v.app_id || ' ' || v.version ORDER BY v.app_id, v.version) FILTER (WHERE v.app_id IS NOT NULL), '{}') AS names`;

export async function findStored(db: Executor, hash: string): Promise<StoredPackage | undefined> {
  const { rows } = await sql<StoredPackage>`
    SELECT ${columns} FROM package_blobs b LEFT JOIN app_versions v ON v.package_hash = b.hash
     WHERE b.hash = ${hash} GROUP BY b.hash`.execute(db);
  return rows[0];
}

/** By hash, from after this one. */
export async function listStored(db: Executor, page: { readonly after: string; readonly limit: number }) {
  const { rows } = await sql<StoredPackage>`
    SELECT ${columns} FROM package_blobs b LEFT JOIN app_versions v ON v.package_hash = b.hash
     WHERE b.hash > ${page.after} GROUP BY b.hash ORDER BY b.hash LIMIT ${page.limit}`.execute(db);
  return rows;
}

/** Packages with a frontend that somebody has installed. */
export async function listInstalledFrontends(db: Executor): Promise<string[]> {
  const { rows } = await sql<{ hash: string }>`
    SELECT DISTINCT v.package_hash AS hash
      FROM installed_apps i JOIN app_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE v.manifest ? 'frontend'`.execute(db);
  return rows.map(({ hash }) => hash);
}

export async function recordDigest(db: Executor, hash: string, digest: string): Promise<void> {
  await db.updateTable('package_blobs').set({ frontend_digest: digest }).where('hash', '=', hash).execute();
}
