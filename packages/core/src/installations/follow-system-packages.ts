// Brings the system apps of all accounts to the version the platform came with. They belong to the platform and speak
// to its shell, so they change with it; what each may do stays what its account allows (docs/decisions/system-apps.md).
import type { InstallationId } from '@platform/contract';
import type { Transaction } from 'kysely';
import { lockApp, setNewest } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { notifyEach } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { grantsOfVersion } from '../grants/grants-of-version.ts';
import { lockPlacement } from '../placement/face.ts';
import { distinctGrants, type Shipped, selectUnfollowed, updateVersionOfAll } from './follow-queries.ts';

/**
 * Makes the versions with these package hashes the current ones. To be called at the start, after they were published.
 *
 * @param hashes SHA-256 of the packages the platform came with, hexadecimal
 */
export async function followSystemPackages(context: CoreContext, hashes: readonly string[]): Promise<void> {
  const shipped = await selectUnfollowed(context.database, hashes);
  for (const release of shipped) {
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
  await lockApp(trx, appId);
  await setNewest(trx, appId, version);
  const changed: InstallationId[] = [];
  // Few accounts ever change these grants, so there are few different ones, however many accounts there are.
  for (const held of await distinctGrants(trx, appId, version)) {
    const next = grantsOfVersion(held, requestedGrants(manifest));
    const updated = await updateVersionOfAll(trx, { appId, version, manifest }, { held, next });
    await notifyEach(trx, 'installation-changed', updated);
    changed.push(...updated.map(({ installationId }) => installationId));
  }
  await lifecycle.upgraded(trx, changed);
  return changed.length;
}
