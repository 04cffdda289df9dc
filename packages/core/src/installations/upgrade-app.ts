// Changing the version of an installed app, forwards or back. Its grants never grow (specification 2.3, rule 3), and what
// its backend may use only when its owner accepts it (contract 3). The version before an update is kept for going back.

import { isDeepStrictEqual } from 'node:util';
import {
  acceptedResources,
  askedResources,
  type BackendResources,
  carriedResources,
  grantedWorkload,
  grantsBackend,
  limits,
  noResources,
  refuse,
  resourcesBeyond,
  type upgradeBody,
  type WorkloadManifest,
} from '@platform/contract';
import type { Transaction } from 'kysely';
import * as semver from 'semver';
import type * as z from 'zod';
import { findAppVersion, holdVersion, isVisibleTo } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { grantsOfVersion } from '../grants/grants-of-version.ts';
import { openedByName } from '../grants/public-grants.ts';
import { demandRoom, lockPlacement, type Place, placeInstallation, placeOf, placeUpgrade } from '../placement/face.ts';
import { requireVolumeDisk } from './install-app.ts';
import { type FormerVersion, lockOwn, type OwnInstallation, updateVersion } from './queries.ts';

/**
 * Keeps the held grants, without effect as far as the other version does not request them, and opens nothing to the internet
 * that was not open. The backend runs within what it was granted before, and a first one not at all, unless
 * `acceptResources` grants all that this version asks for; with the version that is installed already, that is all that
 * changes.
 *
 * After an update its owner can go back to the version before, also where the app is no longer offered to them, and nobody
 * can delete that version for `limits.formerVersionDays` (docs/decisions/going-back.md).
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
    // Before the installation: a deletion of this version holds it first and then changes installations.
    const published = await holdVersion(trx, appId, version);
    const installation = await lockOwn(trx, accountKey, appId);
    if (installation === undefined) throw refuse('not_found');
    const release = published ? await findAppVersion(trx, appId, version) : undefined;
    const isOwn = version === installation.version || version === installation.former_version;
    if (release === undefined || !(isOwn || isVisibleTo(accountKey, release)))
      throw refuse('not_found', 'This version is not published.');
    const { workload } = release.manifest;
    const granted = heldResources(installation);
    const resources = resourcesAfter(granted, workload, acceptResources);
    if (installation.version === version && isDeepStrictEqual(granted, resources)) return;
    const place = await placeNext(trx, context, { accountKey, appId }, installation, {
      held: granted,
      resources,
      workload: grantedWorkload(workload, resources),
    });
    await requireVolumeDisk(trx, context, { accountKey, name: release.manifest.name, place });
    await updateVersion(trx, installation.id, {
      version,
      former: formerAfter(installation, version, context.clock()),
      ...grantsOfVersion(
        { grants: openedByName(installation.grants, installation.manifest), setAside: installation.set_aside },
        requestedGrants(release.manifest),
      ),
      resources,
      place,
    });
    await notify(trx, 'installation-changed', { installationId: installation.id, accountKey });
    await context.lifecycle.upgraded(trx, [installation.id]);
  });
}

/** What can be gone back to afterwards: nothing after going back, and no app of the platform leaves its version. */
function formerAfter(installation: OwnInstallation, version: string, now: Date): FormerVersion | null {
  const { version: present, system, former_version: former, former_kept_until: keptUntil } = installation;
  if (version === present) return former === null || keptUntil === null ? null : { version: former, keptUntil };
  if (system || !semver.gt(version, present)) return null;
  return { version: present, keptUntil: new Date(now.getTime() + limits.formerVersionDays.value * 86_400_000) };
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
  context: CoreContext,
  owner: { readonly accountKey: string; readonly appId: string },
  installation: OwnInstallation,
  { held, resources, workload }: Next,
): Promise<Place> {
  if (workload !== undefined && !grantsBackend(held)) return placeInstallation(trx, context, owner, { workload });
  const former = placeOf({ ...installation, volume_mib: volumeMiB(installation) });
  const place = await placeUpgrade(trx, context, owner, former, { workload });
  const { id, node_id: nodeId } = installation;
  if (workload !== undefined && nodeId !== null && needsRoom(held, resources))
    await demandRoom(trx, context, { id, nodeId, accountKey: owner.accountKey }, workload);
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
