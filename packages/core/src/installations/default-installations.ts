// The apps every account has from its first moment, each an installation with its own principal like any other
// (specification 1.2, 2.1).
import type { InstallationId } from '@platform/contract';
import type { Kysely } from 'kysely';
import { findAccount, type NamedAccount } from '../accounts/account-queries.ts';
import { isMaster } from '../accounts/master-account.ts';
import { defaultAppIds, masterAppIds } from '../catalog/platform-app-ids.ts';
import { type AppVersion, findNewestVersions } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { normaliseGrants } from '../grants/grant-coverage.ts';
import { assignmentsChanged } from '../placement/assignments.ts';
import { lockPlacement, placeOrWait } from '../placement/placement.ts';
import { newInstallation } from './install-app.ts';
import { insertInstallation, selectEverInstalled } from './queries.ts';

/**
 * Installs the default apps at their newest version with all their requested grants, inside the transaction that
 * creates the account; the master account gets those that are for it alone as well. One that could not be published at
 * start, or whose id an account claimed before the platform came with it, is logged and left out.
 */
export async function createDefaultInstallations(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  account: NamedAccount,
): Promise<void> {
  const appIds = isMaster(context, account.name) ? [...defaultAppIds, ...masterAppIds] : defaultAppIds;
  const releases = (await findNewestVersions(trx, appIds)).filter(({ system }) => system);
  const missing = appIds.filter((appId) => !releases.some((release) => release.appId === appId));
  if (missing.length > 0)
    context.log.error({ missing, account: account.name }, 'an account lacks apps of the platform');
  for (const release of releases) await installWhole(trx, context, account.key, release);
  if (releases.some(({ manifest }) => manifest.workload !== undefined)) await assignmentsChanged(trx);
}

/**
 * Gives the master account what is for it alone, when it was registered before the operator named it or before the
 * platform came with it. What it had and removed stays removed. To be called at the start.
 */
export async function ensureMasterInstallations(context: CoreContext): Promise<void> {
  const { masterAccount } = context.config;
  const account = masterAccount === null ? undefined : await findAccount(context, masterAccount);
  if (account === undefined) return;
  await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const had = await selectEverInstalled(trx, account.key, masterAppIds);
    const releases = await findNewestVersions(trx, masterAppIds);
    const missing = releases.filter(({ system, appId }) => system && !had.includes(appId));
    for (const release of missing) {
      const installationId = await installWhole(trx, context, account.key, release);
      await notify(trx, 'installation-changed', { installationId, accountKey: account.key });
      context.log.info({ appId: release.appId, account: account.name }, 'an app was installed for the master account');
    }
    if (missing.some(({ manifest }) => manifest.workload !== undefined)) await assignmentsChanged(trx);
  });
}

/** A system app gets every grant it requests. */
async function installWhole(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  accountKey: string,
  release: AppVersion,
): Promise<InstallationId> {
  const grants = normaliseGrants(requestedGrants(release.manifest));
  const place = await placeOrWait(trx, { accountKey, appId: release.appId }, release.manifest);
  const id = await insertInstallation(trx, newInstallation(context, accountKey, release, { grants, place }));
  if (id === undefined) throw new Error(`the account already has ${release.appId}`);
  return id;
}
