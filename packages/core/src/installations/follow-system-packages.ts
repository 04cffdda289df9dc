// Brings the system apps of all accounts to the version the platform came with. They belong to the platform and speak
// to its shell, so they change with it; what each may do stays what its account allows (docs/decisions/system-apps.md).
import type { Grant, InstallationId, Manifest } from '@platform/contract';
import { sql, type Transaction } from 'kysely';
import { setNewest } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import { notifyEach } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { intersectGrants } from '../grants/grant-coverage.ts';
import { lockPlacement } from '../placement/placement.ts';

interface Shipped {
  readonly appId: string;
  readonly version: string;
  readonly manifest: Manifest;
}

/**
 * Makes the versions with these package hashes the current ones. To be called at the start, after they were published.
 *
 * @param hashes SHA-256 of the packages the platform came with, hexadecimal
 */
export async function followSystemPackages(context: CoreContext, hashes: readonly string[]): Promise<void> {
  const shipped = await sql<Shipped>`
    SELECT v.app_id AS "appId", v.version, v.manifest
      FROM app_versions v JOIN apps a ON a.app_id = v.app_id
     WHERE a.system AND v.package_hash = ANY(${[...hashes]})
       AND (NOT v.newest OR EXISTS (SELECT FROM installations i WHERE i.app_id = v.app_id AND i.version <> v.version))`.execute(
    context.database,
  );
  for (const release of shipped.rows) {
    const followed = await context.database.transaction().execute((trx) => follow(trx, context, release));
    if (followed > 0) context.log.info({ ...identityOf(release), installations: followed }, 'a system app was updated');
  }
}

function identityOf({ appId, version }: Shipped): { appId: string; version: string } {
  return { appId, version };
}

/** @returns how many installations changed */
async function follow(
  trx: Transaction<DatabaseSchema>,
  { lifecycle }: CoreContext,
  { appId, version, manifest }: Shipped,
): Promise<number> {
  await lockPlacement(trx);
  await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forUpdate().execute();
  await setNewest(trx, appId, version);
  // What gets a backend with this version waits for a node a moment, or until there is one.
  const backend = manifest.workload !== undefined;
  const volume = manifest.workload?.volume === true;
  const changed: InstallationId[] = [];
  // Few accounts ever change these grants, so there are few different ones, however many accounts there are.
  const { rows } = await sql<{ grants: Grant[] }>`
    SELECT DISTINCT grants FROM installations WHERE app_id = ${appId} AND version <> ${version}`.execute(trx);
  for (const { grants } of rows) {
    const kept = JSON.stringify(intersectGrants(grants, manifest.permissions));
    const updated = await sql<{ installationId: InstallationId; accountKey: string }>`
      UPDATE installations
         SET version = ${version}, grants = ${kept}, revision = revision + 1,
             waiting = removed_at IS NULL AND node_id IS NULL AND ${backend}::boolean,
             has_volume = has_volume OR node_id IS NOT NULL AND ${volume}::boolean,
             volume_store = CASE WHEN has_volume OR NOT ${volume}::boolean THEN volume_store
                                 ELSE (SELECT shared_store FROM nodes WHERE nodes.id = node_id) END
       WHERE app_id = ${appId} AND version <> ${version} AND grants = ${JSON.stringify(grants)}::jsonb
       RETURNING id AS "installationId", account_key AS "accountKey"`.execute(trx);
    await notifyEach(trx, 'installation-changed', updated.rows);
    changed.push(...updated.rows.map(({ installationId }) => installationId));
  }
  await lifecycle.upgraded(trx, changed);
  return changed.length;
}
