// Takes a version out of the catalog that was published only to try something, as `platform dev` does at every change.
import { rm } from 'node:fs/promises';
import type { CoreContext } from '../context.ts';
import { newestVersion } from './newest-version.ts';
import { packageFile, unpackedFolder } from './package-file.ts';
import { listVersions, lockApp, setNewest } from './queries.ts';
import { deleteUnusedBlob, deleteVersion } from './withdraw-queries.ts';

/**
 * Removes the version and its files, unless an installation, current or removed, refers to it.
 *
 * @returns whether it was removed
 */
export async function withdrawVersion(context: CoreContext, appId: string, version: string): Promise<boolean> {
  const hash = await context.database.transaction().execute(async (trx) => {
    // Held against publications of the same app, which read the list of versions too.
    await lockApp(trx, appId);
    const withdrawn = await deleteVersion(trx, appId, version);
    if (withdrawn === undefined) return undefined;
    const versions = await listVersions(trx, appId);
    if (versions.length > 0) await setNewest(trx, appId, newestVersion(versions.map((one) => one.version)));
    await deleteUnusedBlob(trx, withdrawn);
    return withdrawn;
  });
  if (hash === undefined) return false;
  // A package holds its own id and version, so nothing else in the catalog has these bytes. The sweep at the next
  // start takes what a crash leaves here.
  await rm(packageFile(context, hash), { force: true });
  await rm(unpackedFolder(context, hash), { recursive: true, force: true });
  return true;
}
