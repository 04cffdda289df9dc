// The apps every account has from its first moment, each an installation with its own principal like any other
// (specification 1.2, 2.1).
import type { Kysely } from 'kysely';
import { findNewestVersions } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { normaliseGrants } from '../grants/grant-coverage.ts';
import { assignmentsChanged } from '../topology/assignments.ts';
import { placeOrWait } from '../topology/placement.ts';
import { newInstallation } from './install-app.ts';
import { insertInstallation } from './queries.ts';

export const defaultAppIds = ['launcher', 'store', 'settings', 'wallet', 'contacts', 'agent', 'notifications'] as const;

/**
 * Installs the default apps at their newest version with all their requested grants, inside the transaction that
 * creates the account.
 *
 * @throws Error when one of them was not published at start: a fault of the build, which must not make accounts that
 *   lack an app
 */
export async function createDefaultInstallations(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  accountKey: string,
): Promise<void> {
  const releases = (await findNewestVersions(trx, defaultAppIds)).filter(({ system }) => system);
  const missing = defaultAppIds.filter((appId) => !releases.some((release) => release.appId === appId));
  if (missing.length > 0) throw new Error(`the packages of these default apps are missing: ${missing.join(', ')}`);
  for (const release of releases) {
    const grants = normaliseGrants(release.manifest.permissions);
    const place = await placeOrWait(trx, { accountKey, appId: release.appId }, release.manifest);
    const id = await insertInstallation(trx, newInstallation(context, accountKey, release, { grants, place }));
    if (id === undefined) throw new Error(`the new account already has ${release.appId}`);
  }
  if (releases.some(({ manifest }) => manifest.workload !== undefined)) await assignmentsChanged(trx);
}
