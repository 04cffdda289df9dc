// Installing an app: a version, the grants the person left it, what its backend may use, a host and a node of its own
// (contract 3).
import { askedResources, type Grant, type installBody, noResources, refuse, withoutCritical } from '@platform/contract';
import type * as z from 'zod';
import type { NamedAccount } from '../accounts/face.ts';
import { type AppVersion, findAppVersion, holdVersion, isOfferedTo } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { newId, opaqueLabel } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import { requireAccountDisk } from '../disk/face.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { normaliseGrants } from '../grants/grant-coverage.ts';
import { assignmentsChanged, type Place, placeInstallation, requireUdpShare } from '../placement/face.ts';
import { insertInstallation, type NewInstallation } from './queries.ts';

/**
 * Without `permissions` it gets what its version requests, except what is critical.
 *
 * @throws RefusalError `not_found` for an app or version that is not published, `grants_exceed_request`,
 *   `already_installed`, `disk_quota`, `account_share`, and what {@link placeInstallation} throws
 */
export async function installApp(
  context: CoreContext,
  account: NamedAccount,
  { appId, version, permissions }: z.output<typeof installBody>,
): Promise<void> {
  const release = await findAppVersion(context.database, appId, version);
  if (release === undefined || !(await isOfferedTo(context, account, release))) throw notPublished();
  const accountKey = account.key;
  const requested = requestedGrants(release.manifest);
  const grants =
    permissions === undefined ? normaliseGrants(withoutCritical(requested)) : checkGrants(requested, permissions);
  await context.database.transaction().execute(async (trx) => {
    const place = await placeInstallation(trx, context, { accountKey, appId }, release.manifest);
    // It may have been deleted meanwhile.
    if (!(await holdVersion(trx, appId, release.version))) throw notPublished();
    await requireVolumeDisk(trx, context, { accountKey, name: release.manifest.name, place });
    const id = await insertInstallation(trx, newInstallation(context, accountKey, release, { grants, place }));
    if (id === undefined) throw refuse('already_installed');
    await requireUdpShare(trx, context, { accountKey, manifest: release.manifest, former: [], next: grants });
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    if (release.manifest.workload !== undefined) await assignmentsChanged(trx, { context, installations: [id] });
    await context.at('installations.install.committing');
  });
  await context.at('installations.install.committed');
}

function notPublished() {
  return refuse('not_found', 'No such app or version is published.');
}

/** @throws RefusalError `disk_quota` when the account cannot take what the volume grows by */
export async function requireVolumeDisk(
  trx: Executor,
  context: Pick<CoreContext, 'config'>,
  { accountKey, name, place }: { readonly accountKey: string; readonly name: string; readonly place: Place },
): Promise<void> {
  const bytes = place.growsByMiB * 1024 * 1024;
  await requireAccountDisk(trx, context, { accountKey, bytes, what: `The volume of ${name}` });
}

/** A row for the first installation of an app; ids, host and endpoint are drawn anew. */
export function newInstallation(
  context: CoreContext,
  accountKey: string,
  { appId, version, manifest: { workload } }: AppVersion,
  choice: { readonly grants: readonly Grant[]; readonly place: Place },
): NewInstallation {
  return {
    id: newId('inst', context),
    accountKey,
    appId,
    version,
    hostLabel: opaqueLabel(context.random),
    endpointId: opaqueLabel(context.random),
    resources: workload === undefined ? noResources : askedResources(workload),
    now: context.clock(),
    ...choice,
  };
}
