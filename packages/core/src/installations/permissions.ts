// The snapshot of an installed app: what it holds, what it asks for, and the replacement of its grants
// (specification 4.1).
import { askedResources, type Grant, type PermissionsView, refuse, resourcesInForce } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { changingAt } from '../database/changing.ts';
import { notify } from '../database/notify.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { setAsideAfter } from '../grants/grants-of-version.ts';
import { assignmentsRevoked, requireUdpShare } from '../placement/face.ts';
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

function viewOf(
  { manifest, resources, set_aside: setAside }: OwnInstallation,
  permissions: Grant[],
  revision: number,
): PermissionsView {
  const { workload } = manifest;
  return {
    permissions,
    setAside,
    requested: requestedGrants(manifest),
    resources:
      workload === undefined
        ? null
        : {
            runtime: workload.runtime,
            granted: resourcesInForce(workload, resources),
            requested: askedResources(workload),
          },
    revision,
  };
}

/**
 * Replaces the grants within the request of the installed version. When the answer is there, no request under the
 * former grants begins any more, and the node of a running workload and every Ingress have ended what they allowed of the
 * network, of calls through its Gateway and of public requests: or two seconds have passed. Most grants are checked at each
 * request and are nothing to wait for; the policy names those that are.
 *
 * @param check throws for what it is to hold no longer, of what it holds right before
 * @throws RefusalError `not_found`, `grants_exceed_request`, `invalid_request`, `account_share`
 */
export async function replacePermissions(
  context: CoreContext,
  accountKey: string,
  appId: string,
  chosen: readonly Grant[],
  check: (held: readonly Grant[]) => void = () => undefined,
): Promise<PermissionsView> {
  await context.settings.current();
  return changingAt(context, 'installations.permissions', async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const { id, grants, manifest, node_id: nodeId } = installation;
    const permissions = checkGrants(requestedGrants(manifest), chosen);
    check(grants);
    const setAside = setAsideAfter({ grants, setAside: installation.set_aside }, permissions);
    const revision = await updateGrants(trx, id, { grants: permissions, setAside });
    await requireUdpShare(trx, context, { accountKey, manifest, former: grants, next: permissions });
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    const runs = manifest.workload !== undefined;
    if (runs && context.policies.differ({ appId, grants, manifest }, permissions))
      await assignmentsRevoked(context, trx, { nodes: [nodeId], touched: { context, installations: [id] } });
    return viewOf({ ...installation, set_aside: setAside }, permissions, revision);
  });
}
