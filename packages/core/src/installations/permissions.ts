// The grants of an installed app: what it holds, what it asked for, and their replacement (specification 4.1).
import { type Grant, type PermissionsView, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { lockOwn, selectOwn, updateGrants } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readPermissions(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<PermissionsView> {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  const { grants, manifest, revision } = installation;
  return { permissions: grants, requested: manifest.permissions, revision: Number(revision) };
}

/**
 * Replaces the grants within the request of the installed version. When the answer is there, no request under the
 * former grants begins any more.
 *
 * @throws RefusalError `not_found`, `grants_exceed_request`, `invalid_request`
 */
export async function replacePermissions(
  context: CoreContext,
  accountKey: string,
  appId: string,
  chosen: readonly Grant[],
): Promise<PermissionsView> {
  return context.database.transaction().execute(async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const requested = installation.manifest.permissions;
    const permissions = checkGrants(requested, chosen);
    const revision = await updateGrants(trx, installation.id, permissions);
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    return { permissions, requested, revision };
  });
}
