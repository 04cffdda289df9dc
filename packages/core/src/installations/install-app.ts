// Installing an app: a version, the grants the person left it, what its backend may use, a host and a node of its own
// (contract 3).
import { askedResources, type Grant, type installBody, noResources, refuse } from '@platform/contract';
import type * as z from 'zod';
import type { NamedAccount } from '../accounts/account-queries.ts';
import { isOfferedTo } from '../catalog/master-apps.ts';
import { type AppVersion, findAppVersion } from '../catalog/queries.ts';
import type { CoreContext } from '../context.ts';
import { newId, opaqueLabel } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import { checkGrants } from '../grants/check-grants.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { normaliseGrants } from '../grants/grant-coverage.ts';
import { assignmentsChanged } from '../placement/assignments.ts';
import { type Place, placeInstallation } from '../placement/placement.ts';
import { insertInstallation, type NewInstallation } from './queries.ts';

/**
 * @throws RefusalError `not_found` for an app or version that is not published, `grants_exceed_request`,
 *   `already_installed`, and what {@link placeInstallation} throws
 */
export async function installApp(
  context: CoreContext,
  account: NamedAccount,
  { appId, version, permissions }: z.output<typeof installBody>,
): Promise<void> {
  const release = await findAppVersion(context.database, appId, version);
  if (release === undefined || !isOfferedTo(context, account.name, release))
    throw refuse('not_found', 'No such app or version is published.');
  const accountKey = account.key;
  const requested = requestedGrants(release.manifest);
  const grants = permissions === undefined ? normaliseGrants(requested) : checkGrants(requested, permissions);
  await context.database.transaction().execute(async (trx) => {
    const place = await placeInstallation(trx, { accountKey, appId }, release.manifest);
    const id = await insertInstallation(trx, newInstallation(context, accountKey, release, { grants, place }));
    if (id === undefined) throw refuse('already_installed');
    await notify(trx, 'installation-changed', { installationId: id, accountKey });
    if (release.manifest.workload !== undefined) await assignmentsChanged(trx);
    await context.at('installations.install.committing');
  });
  await context.at('installations.install.committed');
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
