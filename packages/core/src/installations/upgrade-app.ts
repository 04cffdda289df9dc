// Changing the version of an installed app, forwards or back. Its grants never grow (specification 2.3, rule 3).
import { refuse } from '@platform/contract';
import { findAppVersion } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { intersectGrants } from '../grants/grant-coverage.ts';
import { lockPlacement, placeOf, placeUpgrade } from '../placement/placement.ts';
import { lockOwn, updateVersion } from './queries.ts';

/**
 * Keeps of the held grants what the other version requests too. Going back to a former version does not bring back
 * what was lost on the way.
 *
 * @throws RefusalError `not_found` for an app that is not installed or a version that is not published, and what
 *   {@link placeUpgrade} throws
 */
export async function upgradeApp(
  context: CoreContext,
  accountKey: string,
  appId: string,
  version: string,
): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    if (installation.version === version) return;
    const release = await findAppVersion(trx, appId, version);
    if (release === undefined) throw refuse('not_found', 'This version is not published.');
    // Where its volume is, there it stays.
    const place = await placeUpgrade(trx, { accountKey, appId }, placeOf(installation), release.manifest);
    await updateVersion(trx, installation.id, {
      version,
      grants: intersectGrants(installation.grants, release.manifest.permissions),
      place,
    });
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    await context.lifecycle.upgraded(trx, [installation.id]);
  });
}
