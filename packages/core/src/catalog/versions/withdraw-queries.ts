// The SQL that takes a version out of the catalog, and of what stays known of it.

import { sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { Executor } from '../../database/schema.ts';

/** Locks a version against installation until the transaction ends. @returns whether it is published */
export async function lockVersion(trx: Executor, appId: string, version: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM app_versions WHERE app_id = ${appId} AND version = ${version} FOR UPDATE`.execute(trx);
  return rows.length > 0;
}

export type VersionUse = { readonly kind: 'installed' } | { readonly kind: 'former'; readonly until: Date };

/**
 * What keeps a version that is locked: an installation, or somebody who updated from it lately and may go back. What the
 * publisher could go back to does not count: they delete it themselves.
 */
export async function findVersionUse(
  trx: Executor,
  { appId, version, proven }: { readonly appId: string; readonly version: string; readonly proven: ProvenTime },
): Promise<VersionUse | null> {
  const { rows } = await sql<{ installed: boolean; until: Date | null }>`
    SELECT coalesce(bool_or(i.version = ${version}), false) AS installed, max(i.former_kept_until) AS until
      FROM installed_apps i JOIN apps a ON a.app_id = i.app_id
     WHERE i.app_id = ${appId}
       AND (i.version = ${version}
            OR i.former_version = ${version} AND i.former_kept_until > ${proven}
               AND i.account_key IS DISTINCT FROM a.owner_key)`.execute(trx);
  const { installed, until } = rows[0] ?? { installed: false, until: null };
  if (installed) return { kind: 'installed' };
  return until === null ? null : { kind: 'former', until };
}

/**
 * Deletes a version that is locked and that nobody uses. Removed apps keep their identity and their volume, and forget
 * which version they were.
 *
 * @returns the hash of its package
 */
export async function deleteVersion(trx: Executor, appId: string, version: string): Promise<string> {
  await sql`
    UPDATE installations SET version = NULL
     WHERE app_id = ${appId} AND version = ${version} AND removed_at IS NOT NULL`.execute(trx);
  const { rows } = await sql<{ hash: string }>`
    DELETE FROM app_versions WHERE app_id = ${appId} AND version = ${version}
    RETURNING package_hash AS hash`.execute(trx);
  if (rows[0] === undefined) throw new Error('the version was not locked');
  return rows[0].hash;
}

/** Versions that nobody has installed or can go back to, of apps whose publisher's account was deleted. */
export async function selectAbandoned(
  db: Executor,
  { proven, atMost }: { readonly proven: ProvenTime; readonly atMost: number },
): Promise<{ readonly appId: string; readonly version: string }[]> {
  const { rows } = await sql<{ appId: string; version: string }>`
    SELECT v.app_id AS "appId", v.version
      FROM apps a JOIN app_versions v ON v.app_id = a.app_id
     WHERE a.owner_key IS NULL AND NOT a.system
       AND NOT EXISTS (SELECT FROM installed_apps i
                        WHERE i.app_id = v.app_id
                          AND (i.version = v.version
                               OR i.former_version = v.version AND i.former_kept_until > ${proven}))
     ORDER BY v.app_id, v.version LIMIT ${atMost}`.execute(db);
  return rows;
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
