// The apps every account has from its first moment, each an installation with its own principal like any other
// (specification 1.2, 2.1).
import type { InstallationId } from '@platform/contract';
import type { Kysely } from 'kysely';
import { findAccount, isMaster, masterName, type NamedAccount } from '../accounts/face.ts';
import { type AppVersion, defaultAppIds, findNewestVersions, masterAppIds } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { normaliseGrants } from '../grants/grant-coverage.ts';
import { assignmentsChanged, lockPlacement, nowhere, placeOrWait, waitsForUse } from '../placement/face.ts';
import { newInstallation } from './install-app.ts';
import { insertInstallation, selectNeverInstalled } from './queries.ts';

/** Installations made in one transaction, which others wait for. */
const AT_ONCE = 200;

/**
 * Installs the default apps at their newest version with all their requested grants, inside the transaction that
 * creates the account; the master account gets those that are for it alone as well. One that could not be published at
 * start, or whose id an account claimed before the platform came with it, is logged and left out; the account gets it at a
 * start that has it.
 */
export async function createDefaultInstallations(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  account: NamedAccount,
): Promise<void> {
  const own = await isMaster({ config: context.config, database: trx }, account.name);
  const appIds = own ? [...defaultAppIds, ...masterAppIds] : defaultAppIds;
  const releases = (await findNewestVersions(trx, appIds)).filter(({ system }) => system);
  const missing = appIds.filter((appId) => !releases.some((release) => release.appId === appId));
  if (missing.length > 0)
    context.log.error({ missing, account: account.name }, 'an account lacks apps of the platform');
  const installations: InstallationId[] = [];
  for (const release of releases) installations.push(await installWhole(trx, context, account.key, release));
  if (releases.some(({ manifest }) => manifest.workload !== undefined))
    await assignmentsChanged(trx, { context, installations });
}

/**
 * Gives every account the default apps that were missing when it was registered, and the master account those for it
 * alone. What a person removed stays removed. To be called at the start.
 */
export async function ensureDefaultInstallations(context: CoreContext): Promise<void> {
  await ensureMasterApps(context);
  await ensure(context, defaultAppIds, null);
}

/** Gives the master account, where there is one, the apps for it alone that it never had. */
export async function ensureMasterApps(context: CoreContext): Promise<void> {
  const name = await masterName(context);
  const master = name === null ? undefined : await findAccount(context, name);
  if (master !== undefined) await ensure(context, masterAppIds, master.key);
}

/** @param accountKey `null` for every account */
async function ensure(context: CoreContext, appIds: readonly string[], accountKey: string | null): Promise<void> {
  for (let after: string | null = ''; after !== null; ) {
    const last: string = after;
    after = await context.database.transaction().execute(async (trx) => {
      // Nobody installs meanwhile.
      await lockPlacement(trx);
      const releases = (await findNewestVersions(trx, appIds)).filter(({ system }) => system);
      const lacking = await selectNeverInstalled(trx, {
        appIds: releases.map(({ appId }) => appId),
        accountKey,
        from: last,
        most: AT_ONCE,
      });
      const installations: InstallationId[] = [];
      for (const release of releases)
        for (const account of lacking.filter(({ appId }) => appId === release.appId)) {
          const installationId = await installWhole(trx, context, account.key, release);
          installations.push(installationId);
          await notify(trx, 'installation-changed', { installationId, accountKey: account.key });
          context.log.info({ appId: release.appId, account: account.name }, 'an account got an app of the platform');
        }
      if (lacking.length > 0 && releases.some(({ manifest }) => manifest.workload !== undefined))
        await assignmentsChanged(trx, { context, installations });
      return lacking.length < AT_ONCE ? null : (lacking.at(-1)?.key ?? null);
    });
  }
}

/** A system app gets every grant it requests. One that sleeps takes nothing of a node before it is first used. */
async function installWhole(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  accountKey: string,
  release: AppVersion,
): Promise<InstallationId> {
  const grants = normaliseGrants(requestedGrants(release.manifest));
  const owner = { accountKey, appId: release.appId };
  const place = waitsForUse(release.manifest) ? nowhere : await placeOrWait(trx, context, owner, release.manifest);
  const id = await insertInstallation(trx, newInstallation(context, accountKey, release, { grants, place }));
  if (id === undefined) throw new Error(`the account already has ${release.appId}`);
  return id;
}
