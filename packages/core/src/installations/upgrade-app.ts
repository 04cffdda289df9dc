// Changing the version of an installed app, forwards or back. Its grants never grow (specification 2.3, rule 3), and what
// its backend may use only when its owner accepts it (contract 3).

import { isDeepStrictEqual } from 'node:util';
import {
  acceptedResources,
  askedResources,
  type BackendResources,
  carriedResources,
  grantedWorkload,
  grantsBackend,
  noResources,
  refuse,
  resourcesBeyond,
  type upgradeBody,
  type WorkloadManifest,
} from '@platform/contract';
import type { Transaction } from 'kysely';
import type * as z from 'zod';
import { isVisibleTo } from '../catalog/master-apps.ts';
import { findAppVersion } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { carriedGrants, requestedGrants } from '../grants/frontend-grants.ts';
import { openedByName } from '../grants/public-grants.ts';
import {
  demandRoom,
  lockPlacement,
  type Place,
  placeInstallation,
  placeOf,
  placeUpgrade,
} from '../placement/placement.ts';
import { requireVolumeDisk } from './install-app.ts';
import { lockOwn, type OwnInstallation, updateVersion } from './queries.ts';

/**
 * Keeps of the held grants what the other version requests too, and opens nothing to the internet that was not open. Going back to a former version does not bring back
 * what was lost on the way. The backend runs within what it was granted before, and a first one not at all, unless
 * `acceptResources` grants all that this version asks for; with the version that is installed already, that is all that
 * changes.
 *
 * @throws RefusalError `not_found` for an app that is not installed or a version that is not published, `disk_quota`
 *   when its volume grows beyond what the account may take, and what
 *   {@link placeUpgrade} throws
 */
export async function upgradeApp(
  context: CoreContext,
  accountKey: string,
  appId: string,
  { version, acceptResources }: z.output<typeof upgradeBody>,
): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    await lockPlacement(trx);
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const release = await findAppVersion(trx, appId, version);
    if (release === undefined || !isVisibleTo(accountKey, release))
      throw refuse('not_found', 'This version is not published.');
    const { workload } = release.manifest;
    const held = heldResources(installation);
    const resources = resourcesAfter(held, workload, acceptResources);
    if (installation.version === version && isDeepStrictEqual(held, resources)) return;
    const place = await placeNext(trx, { accountKey, appId }, installation, {
      held,
      resources,
      workload: grantedWorkload(workload, resources),
    });
    await requireVolumeDisk(trx, context, { accountKey, name: release.manifest.name, place });
    await updateVersion(trx, installation.id, {
      version,
      grants: carriedGrants(
        openedByName(installation.grants, installation.manifest),
        requestedGrants(release.manifest),
      ),
      resources,
      place,
    });
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    await context.lifecycle.upgraded(trx, [installation.id]);
  });
}

interface Next {
  readonly held: BackendResources;
  readonly resources: BackendResources;
  /** What may run of it. */
  readonly workload: WorkloadManifest | undefined;
}

/** A backend that was not granted before is placed as at an installation; another one stays where it is. */
async function placeNext(
  trx: Transaction<DatabaseSchema>,
  owner: { readonly accountKey: string; readonly appId: string },
  installation: OwnInstallation,
  { held, resources, workload }: Next,
): Promise<Place> {
  if (workload !== undefined && !grantsBackend(held)) return placeInstallation(trx, owner, { workload });
  const former = placeOf({ ...installation, volume_mib: volumeMiB(installation) });
  const place = await placeUpgrade(trx, owner, former, { workload });
  const { id, node_id: nodeId } = installation;
  if (workload !== undefined && nodeId !== null && needsRoom(held, resources))
    await demandRoom(trx, { id, nodeId }, workload);
  return place;
}

/** What its volume was granted, 0 without one. */
function volumeMiB(installation: OwnInstallation): number {
  return installation.has_volume || installation.waiting ? heldResources(installation).diskMiB : 0;
}

function needsRoom(held: BackendResources, next: BackendResources): boolean {
  return resourcesBeyond(held, next).some((name) => name === 'memoryMiB' || name === 'mode');
}

function heldResources({ resources, manifest: { workload } }: OwnInstallation): BackendResources {
  return resources ?? (workload === undefined ? noResources : askedResources(workload));
}

function resourcesAfter(
  held: BackendResources,
  workload: WorkloadManifest | undefined,
  accepted: boolean,
): BackendResources {
  // Nothing runs; its volume stays, and keeps its size.
  if (workload === undefined) return { ...noResources, diskMiB: held.diskMiB };
  const asked = askedResources(workload);
  return accepted ? acceptedResources(held, asked) : carriedResources(held, asked);
}
