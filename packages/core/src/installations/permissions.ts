// The snapshot of an installed app: what it holds, what it asks for, and the replacement of its grants
// (specification 4.1).
import { isDeepStrictEqual } from 'node:util';
import { askedResources, type Grant, type PermissionsView, refuse, resourcesInForce } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import { changing } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { assignmentsRevoked, policyOf } from '../placement/face.ts';
import { lockOwn, type OwnInstallation, selectOwn, updateGrants } from './queries.ts';

/** @throws RefusalError `not_found` */
export async function readPermissions(
  context: CoreContext,
  accountKey: string,
  appId: string,
): Promise<PermissionsView> {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found');
  return viewOf(installation, installation.grants, Number(installation.revision));
}

function viewOf({ manifest, resources }: OwnInstallation, permissions: Grant[], revision: number): PermissionsView {
  const { workload } = manifest;
  return {
    permissions,
    requested: requestedGrants(manifest),
    resources:
      workload === undefined
        ? null
        : { granted: resourcesInForce(workload, resources), requested: askedResources(workload) },
    revision,
  };
}

/**
 * Replaces the grants within the request of the installed version. When the answer is there, no request under the
 * former grants begins any more, and the node of a running workload and every Ingress have ended what they allowed of the
 * network, of calls through its Gateway and of public requests: or two seconds have passed.
 *
 * @throws RefusalError `not_found`, `grants_exceed_request`, `invalid_request`
 */
export async function replacePermissions(
  context: CoreContext,
  accountKey: string,
  appId: string,
  chosen: readonly Grant[],
): Promise<PermissionsView> {
  const replace = async (trx: Transaction<DatabaseSchema>) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const permissions = checkGrants(requestedGrants(installation.manifest), chosen);
    const revision = await updateGrants(trx, installation.id, permissions);
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    await updateAssignment(trx, context, installation, permissions);
    await context.at('installations.permissions.committing');
    return viewOf(installation, permissions, revision);
  };
  return changing(context, replace, () => context.at('installations.permissions.committed'));
}

/** Most grants are checked at each request and concern no node; what those of {@link policyOf} allowed ends with them. */
async function updateAssignment(
  trx: Transaction<DatabaseSchema>,
  context: CoreContext,
  { id, grants, manifest, node_id: nodeId }: OwnInstallation,
  permissions: readonly Grant[],
): Promise<void> {
  if (manifest.workload === undefined) return;
  const { settings } = context.intelligence;
  const [former, next] = [policyOf(grants, manifest, settings), policyOf(permissions, manifest, settings)];
  if (isDeepStrictEqual(former, next)) return;
  const touched = isDeepStrictEqual(former.publicRoutes, next.publicRoutes) ? null : { context, installations: [id] };
  await assignmentsRevoked(trx, context, [nodeId], touched);
}
