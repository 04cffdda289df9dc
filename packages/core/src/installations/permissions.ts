// The snapshot of an installed app: what it holds, what it asks for, and the replacement of its grants
// (specification 4.1).
import { isDeepStrictEqual } from 'node:util';
import {
  askedResources,
  type Grant,
  openRoutes,
  type PermissionsView,
  refuse,
  resourcesInForce,
} from '@platform/contract';
import type { Kysely } from 'kysely';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { intelligenceForNode } from '../grants/assigned-providers.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { resourcesOf } from '../grants/grant-coverage.ts';
import type { Change } from '../members/followers.ts';
import { assignmentsChanged, grantedSlots, grantsForNode } from '../placement/face.ts';
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
  const { view, assigned } = await context.database.transaction().execute(async (trx) => {
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const permissions = checkGrants(requestedGrants(installation.manifest), chosen);
    const revision = await updateGrants(trx, installation.id, permissions);
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    const assigned = await updateAssignment(trx, context, installation, permissions);
    await context.at('installations.permissions.committing');
    return { view: viewOf(installation, permissions, revision), assigned };
  });
  await context.at('installations.permissions.committed');
  await context.followers.allCarriedOut(assigned);
  return view;
}

/**
 * Most grants are checked at each request and concern no node. Those of the network, of object storage, of AI providers,
 * of secret slots and of public routes do: what was begun under them ends with them.
 */
async function updateAssignment(
  trx: Kysely<DatabaseSchema>,
  context: CoreContext,
  { id, grants, manifest, node_id: nodeId }: OwnInstallation,
  permissions: readonly Grant[],
): Promise<Change | null> {
  if (manifest.workload === undefined) return null;
  const routes = (held: readonly Grant[]) =>
    openRoutes(manifest.publicEndpoints ?? [], resourcesOf(held, 'endpoints.public'));
  const means = (held: readonly Grant[]) => [
    grantsForNode(held, manifest.publicPorts ?? [], true),
    intelligenceForNode(held, context.intelligence.settings),
    grantedSlots(held, manifest),
    routes(held),
  ];
  if (isDeepStrictEqual(means(grants), means(permissions))) return null;
  const touched = isDeepStrictEqual(routes(grants), routes(permissions)) ? null : { context, installations: [id] };
  if (nodeId === null && touched === null) return null;
  return { nodeIds: nodeId === null ? [] : [nodeId], ...(await assignmentsChanged(trx, touched)) };
}
