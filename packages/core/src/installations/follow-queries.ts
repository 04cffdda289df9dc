// The SQL that brings the system apps of all accounts to another version.
import { askedResources, type InstallationId, type Manifest, noResources } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import type { HeldGrants } from '../grants/grants-of-version.ts';
import { waitsForUse } from '../placement/face.ts';

export interface Shipped {
  readonly appId: string;
  readonly version: string;
  readonly manifest: Manifest;
}

/** Versions of system apps with these package hashes that are not the newest, or not installed in every account. */
export async function selectUnfollowed(db: Executor, hashes: readonly string[]): Promise<Shipped[]> {
  const { rows } = await sql<Shipped>`
    SELECT v.app_id AS "appId", v.version, v.manifest
      FROM published_versions v JOIN published_apps a ON a.app_id = v.app_id
     WHERE a.system AND v.package_hash = ANY(${[...hashes]})
       AND (NOT v.newest OR EXISTS (SELECT FROM installations i WHERE i.app_id = v.app_id AND i.version <> v.version))`.execute(
    db,
  );
  return rows;
}

/** The distinct grants of installations of the app that run another version. */
export async function distinctGrants(trx: Executor, appId: string, version: string): Promise<HeldGrants[]> {
  const { rows } = await sql<HeldGrants>`
    SELECT DISTINCT grants, set_aside AS "setAside"
      FROM installations WHERE app_id = ${appId} AND version <> ${version}`.execute(trx);
  return rows;
}

/**
 * Upgrades the installations with these grants. Those that gain a backend with this version wait for a node, or for their first use. A backend of
 * the platform's own gets the resources its package asks for: the operator decides by starting that version. A volume keeps
 * its size.
 */
export async function updateVersionOfAll(
  trx: Executor,
  { appId, version, manifest }: Shipped,
  { held, next }: { readonly held: HeldGrants; readonly next: HeldGrants },
): Promise<{ installationId: InstallationId; accountKey: string }[]> {
  const backend = manifest.workload !== undefined;
  const atOnce = backend && !waitsForUse(manifest);
  const volume = manifest.workload?.volume === true;
  const resources = manifest.workload === undefined ? noResources : askedResources(manifest.workload);
  const { rows } = await sql<{ installationId: InstallationId; accountKey: string }>`
    UPDATE installations
       SET version = ${version}, grants = ${JSON.stringify(next.grants)}, set_aside = ${JSON.stringify(next.setAside)},
           revision = revision + 1,
           resources = ${JSON.stringify(resources)}::jsonb || jsonb_build_object('diskMiB',
             greatest(${resources.diskMiB}::integer, (resources ->> 'diskMiB')::integer)),
           former_version = NULL, former_kept_until = NULL,
           waiting = removed_at IS NULL AND node_id IS NULL
                     AND (${atOnce}::boolean OR ${backend}::boolean AND (waiting OR held_by IS NOT NULL)),
           has_volume = has_volume OR node_id IS NOT NULL AND ${volume}::boolean,
           volume_store = CASE WHEN has_volume OR NOT ${volume}::boolean THEN volume_store
                               ELSE (SELECT shared_store FROM known_nodes n WHERE n.id = node_id) END
     WHERE app_id = ${appId} AND version <> ${version} AND grants = ${JSON.stringify(held.grants)}::jsonb
       AND set_aside = ${JSON.stringify(held.setAside)}::jsonb
    RETURNING id AS "installationId", account_key AS "accountKey"`.execute(trx);
  return rows;
}
