// All SQL of what accounts take of the disk.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';

/**
 * Size in MiB that the volume of the installation `i` was granted, 0 without one; `v` is its version, which may be missing.
 * The manifest counts for rows that a version of the platform without snapshots wrote.
 */
export const volumeMiB = sql<number>`
  CASE WHEN i.has_volume OR i.waiting AND i.removed_at IS NULL
       THEN coalesce((i.resources ->> 'diskMiB')::integer,
                     CASE WHEN i.has_volume OR (v.manifest #>> '{workload,volume}')::boolean IS TRUE
                          THEN (v.manifest #>> '{workload,resources,diskMiB}')::integer END, 0)
       ELSE 0 END`;

/** Bytes of the package `b`: as uploaded or as unpacked, whichever is more. */
const packageBytes = sql<string>`greatest(b.size, b.unpacked)`;

/** Images of backends that an account has installed: `m` is the image, `i` its installation. */
const installedImages = sql`installation_images m
  JOIN kept_installations i ON i.id = m.installation_id AND i.version = m.version AND i.removed_at IS NULL`;

/** Bytes of all volumes, packages, images, collections and files of an account. */
export async function selectUsedBytes(db: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    SELECT ((SELECT coalesce(sum(${volumeMiB}), 0) * 1048576
               FROM kept_installations i LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
              WHERE i.account_key = ${accountKey})
            + (SELECT coalesce(sum(${packageBytes}), 0)
                 FROM published_apps a
                 JOIN published_versions v ON v.app_id = a.app_id
                 JOIN stored_packages b ON b.hash = v.package_hash
                WHERE a.owner_key = ${accountKey})
            + (SELECT coalesce(sum(m.bytes), 0) FROM ${installedImages} WHERE i.account_key = ${accountKey})
            + (SELECT coalesce(sum(bytes), 0) FROM kept_content WHERE owner_key = ${accountKey}))::text AS bytes`.execute(
    db,
  );
  return Number(rows[0]?.bytes ?? 0);
}

/** Bytes of the packages that an account published, as an export contains them. */
export async function selectUploadedBytes(db: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(b.size), 0)::float8 AS bytes
      FROM published_apps a
      JOIN published_versions v ON v.app_id = a.app_id
      JOIN stored_packages b ON b.hash = v.package_hash
     WHERE a.owner_key = ${accountKey}`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** A volume, or the data that a removed app left. */
export interface VolumeRow {
  readonly account: string;
  readonly appId: string;
  /** Of the app, its id when no version is left. */
  readonly name: string;
  readonly bytes: number;
  readonly installed: boolean;
  /** What it holds is being deleted. */
  readonly deleting: boolean;
  /** Name of the node it lies on; `null` before it was placed. */
  readonly node: string | null;
}

/**
 * The volumes of an account, or of all, the largest first; of one account also removed apps that may have objects and
 * nothing else, with 0 bytes.
 */
export async function selectVolumes(db: Executor, accountKey: string | null): Promise<VolumeRow[]> {
  const { rows } = await sql<VolumeRow>`
    SELECT account, "appId", name, mib * 1048576::float8 AS bytes, installed, deleting, node
      FROM (SELECT o.name AS account, i.app_id AS "appId", coalesce(v.manifest ->> 'name', i.app_id) AS name,
                   ${volumeMiB} AS mib, i.removed_at IS NULL AS installed, d.installation_id IS NOT NULL AS deleting, n.name AS node,
                   ${accountKey}::text IS NOT NULL AND i.removed_at IS NOT NULL AND p.installation_id IS NOT NULL AS left_objects
              FROM kept_installations i
              JOIN account_states o ON o.key = i.account_key
              LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
              LEFT JOIN known_nodes n ON n.id = i.node_id
              LEFT JOIN running_deletions d ON d.installation_id = i.id
              LEFT JOIN object_owners p ON p.installation_id = i.id
             WHERE ${accountKey}::text IS NULL OR i.account_key = ${accountKey}) AS each
     WHERE mib > 0 OR left_objects
     ORDER BY mib DESC, account, "appId"`.execute(db);
  return rows;
}

/** A published package on the disk. */
export interface PackageRow {
  readonly account: string;
  readonly appId: string;
  readonly version: string;
  readonly bytes: number;
  /** By anybody. */
  readonly installed: boolean;
  /** Until then accounts other than its publisher's may go back to it. */
  readonly keptUntil: Date | null;
}

/** The packages that an account published, or all accounts, the largest first. */
export async function selectPackages(
  db: Executor,
  { accountKey, now }: { readonly accountKey: string | null; readonly now: Date },
): Promise<PackageRow[]> {
  const { rows } = await sql<PackageRow>`
    SELECT o.name AS account, v.app_id AS "appId", v.version, ${packageBytes}::float8 AS bytes,
           EXISTS (SELECT FROM installed_apps i
                    WHERE i.app_id = v.app_id AND i.version = v.version) AS installed,
           (SELECT max(i.former_kept_until) FROM installed_apps i
             WHERE i.app_id = v.app_id AND i.former_version = v.version AND i.former_kept_until > ${now}
               AND i.account_key <> a.owner_key) AS "keptUntil"
      FROM published_apps a
      JOIN account_states o ON o.key = a.owner_key
      JOIN published_versions v ON v.app_id = a.app_id
      JOIN stored_packages b ON b.hash = v.package_hash
     WHERE ${accountKey}::text IS NULL OR a.owner_key = ${accountKey}
     ORDER BY bytes DESC, v.app_id, v.version`.execute(db);
  return rows;
}

/** The image of a backend. */
export interface ImageRow {
  readonly account: string;
  readonly appId: string;
  readonly name: string;
  readonly bytes: number;
  /** Name of the node it lies on. */
  readonly node: string | null;
}

/** The images of the backends of an account, or of all accounts, the largest first. */
export async function selectImages(db: Executor, accountKey: string | null): Promise<ImageRow[]> {
  const { rows } = await sql<ImageRow>`
    SELECT o.name AS account, i.app_id AS "appId", coalesce(v.manifest ->> 'name', i.app_id) AS name,
           m.bytes::float8 AS bytes, n.name AS node
      FROM ${installedImages}
      JOIN account_states o ON o.key = i.account_key
      LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
      LEFT JOIN known_nodes n ON n.id = i.node_id
     WHERE ${accountKey}::text IS NULL OR i.account_key = ${accountKey}
     ORDER BY m.bytes DESC, account, "appId"`.execute(db);
  return rows;
}

/** Bytes of the collections and files of an account. */
export async function selectContentBytes(db: Executor, accountKey: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(bytes), 0)::float8 AS bytes FROM kept_content WHERE owner_key = ${accountKey}`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** An installation whose image a node may count. */
export interface PlacedImage {
  readonly accountKey: string;
  /** Of the app. */
  readonly name: string;
  /** What is counted of the same version already. */
  readonly bytes: number;
}

/** `undefined` for an installation that is not placed on this node, or whose version has no image. */
export async function selectPlacedImage(
  trx: Executor,
  { installationId, nodeId }: { readonly installationId: InstallationId; readonly nodeId: string },
): Promise<PlacedImage | undefined> {
  const { rows } = await sql<PlacedImage>`
    SELECT i.account_key AS "accountKey", v.manifest ->> 'name' AS name,
           coalesce((SELECT m.bytes FROM installation_images m
                      WHERE m.installation_id = i.id AND m.version = i.version), 0)::float8 AS bytes
      FROM installed_apps i
      JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
     WHERE i.id = ${installationId} AND i.node_id = ${nodeId} AND v.manifest #>> '{workload,runtime}' = 'oci'`.execute(
    trx,
  );
  return rows[0];
}

export async function writeImage(
  trx: Executor,
  { installationId, bytes }: { readonly installationId: InstallationId; readonly bytes: number },
): Promise<void> {
  await sql`
    INSERT INTO installation_images (installation_id, version, bytes)
    SELECT id, version, ${bytes} FROM installed_apps WHERE id = ${installationId}
    ON CONFLICT (installation_id) DO UPDATE SET version = EXCLUDED.version, bytes = EXCLUDED.bytes`.execute(trx);
}

/** What an account takes for one app. */
export interface UseByApp {
  readonly accountKey: string;
  readonly appId: string;
  readonly name: string;
  readonly installed: boolean;
  readonly volumeBytes: number;
  /** Of the versions that the account published. */
  readonly packageBytes: number;
  readonly imageBytes: number;
}

/** The apps that these accounts have installed, published, or keep a volume of. */
export async function selectUseByApp(db: Executor, accountKeys: readonly string[]): Promise<UseByApp[]> {
  const { rows } = await sql<UseByApp>`
    SELECT account AS "accountKey", app AS "appId", coalesce(max(name) FILTER (WHERE installed AND image = 0), max(name)) AS name, bool_or(installed) AS installed,
           sum(volume)::float8 * 1048576 AS "volumeBytes", sum(package)::float8 AS "packageBytes",
           sum(image)::float8 AS "imageBytes"
      FROM (SELECT i.account_key AS account, i.app_id AS app, coalesce(v.manifest ->> 'name', i.app_id) AS name,
                   i.removed_at IS NULL AS installed, ${volumeMiB} AS volume, 0 AS package, 0 AS image
              FROM kept_installations i
              LEFT JOIN published_versions v ON v.app_id = i.app_id AND v.version = i.version
             WHERE i.account_key = ANY (${[...accountKeys]})
            UNION ALL
            SELECT a.owner_key, a.app_id, coalesce(v.manifest ->> 'name', a.app_id), false, 0, ${packageBytes}, 0
              FROM published_apps a
              JOIN published_versions v ON v.app_id = a.app_id
              JOIN stored_packages b ON b.hash = v.package_hash
             WHERE a.owner_key = ANY (${[...accountKeys]})
            UNION ALL
            SELECT i.account_key, i.app_id, i.app_id, true, 0, 0, m.bytes
              FROM ${installedImages}
             WHERE i.account_key = ANY (${[...accountKeys]})) AS each
     GROUP BY account, app
     ORDER BY account, app`.execute(db);
  return rows;
}
