// Takes a version out of the catalog that was published only to try something, as `platform dev` does at every change.
import { rm } from 'node:fs/promises';
import { sql } from 'kysely';
import type { CoreContext } from '../context.ts';
import { newestVersion } from './newest-version.ts';
import { packageFile, unpackedFolder } from './package-file.ts';
import { listVersions, setNewest } from './queries.ts';

/**
 * Removes the version and its files, unless somebody has it installed or had: what an installation names stays.
 *
 * @returns whether it was removed
 */
export async function withdrawVersion(context: CoreContext, appId: string, version: string): Promise<boolean> {
  const hash = await context.database.transaction().execute(async (trx) => {
    // Held against publications of the same app, which read the list of versions too.
    await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forUpdate().execute();
    const { rows } = await sql<{ hash: string }>`
      DELETE FROM app_versions v
       WHERE v.app_id = ${appId} AND v.version = ${version}
         AND NOT EXISTS (SELECT FROM installations i WHERE i.app_id = v.app_id AND i.version = v.version)
      RETURNING package_hash AS hash`.execute(trx);
    if (rows[0] === undefined) return undefined;
    const versions = await listVersions(trx, appId);
    if (versions.length > 0) await setNewest(trx, appId, newestVersion(versions.map((one) => one.version)));
    await sql`
      DELETE FROM package_blobs b
       WHERE b.hash = ${rows[0].hash}
         AND NOT EXISTS (SELECT FROM app_versions v WHERE v.package_hash = b.hash)`.execute(trx);
    return rows[0].hash;
  });
  if (hash === undefined) return false;
  // A package holds its own id and version, so nothing else in the catalog has these bytes. The sweep at the next
  // start takes what a crash leaves here.
  await rm(packageFile(context, hash), { force: true });
  await rm(unpackedFolder(context, hash), { recursive: true, force: true });
  return true;
}
