// What an author tries out: a development version is installed, or the installed app changes to it.
import { type Developed, type Grant, isDevVersion, type Manifest, RefusalError, refuse } from '@platform/contract';
import type { NamedAccount } from '../accounts/face.ts';
import { findOwner, withdrawVersion } from '../catalog/face.ts';
import type { CoreContext } from '../context.ts';
import { requestedGrants } from '../grants/frontend-grants.ts';
import { allows, excessGrants } from '../grants/grant-coverage.ts';
import { installApp } from './install-app.ts';
import { replacePermissions } from './permissions.ts';
import { type OwnInstallation, selectOwn } from './queries.ts';
import { upgradeApp } from './upgrade-app.ts';

export interface DevelopedApp extends Developed {
  readonly installation: OwnInstallation;
}

/**
 * Puts a published development version in the place of the former one, which is withdrawn, and starts its backend, so that
 * errors show at once; the log has the reason of a failure. The backend may use what it asks for, since it is its author's
 * own.
 *
 * @param grants what its author granted just now, besides what it holds
 * @throws RefusalError `not_authorized` for the app of another account, `invalid_request` for a version that is none of
 *   development, and what installing, upgrading and granting throw
 */
export async function developApp(
  context: CoreContext,
  account: NamedAccount,
  { appId, version }: { readonly appId: string; readonly version: string },
  grants: readonly Grant[] = [],
): Promise<DevelopedApp> {
  await requireOwnApp(context, account.key, appId);
  if (!isDevVersion(appId, version))
    throw refuse('invalid_request', `${appId} ${version} is not a development version such as notes-dev 1.0.0-dev.1.`);
  const before = await selectOwn(context.database, account.key, appId);
  if (before === undefined) await installApp(context, account, { appId, version, permissions: [] });
  else await upgradeApp(context, account.key, appId, { version, acceptResources: true });
  const { permissions: held } = await requireInstalled(context, account.key, appId);
  const wanted = [...held, ...grants];
  if (grants.length > 0) await replacePermissions(context, account.key, appId, wanted);
  if (before !== undefined && before.version !== version && isDevVersion(appId, before.version))
    await withdrawVersion(context, appId, before.version);
  const { installation } = await requireInstalled(context, account.key, appId);
  const { manifest } = installation;
  const problem = manifest.workload === undefined ? null : await start(context, installation);
  return {
    installation,
    name: manifest.name,
    hasBackend: manifest.workload !== undefined,
    ...(problem === null ? {} : { problem }),
    missing: missingGrants(manifest, installation.grants),
  };
}

async function requireInstalled(context: CoreContext, accountKey: string, appId: string) {
  const installation = await selectOwn(context.database, accountKey, appId);
  if (installation === undefined) throw refuse('not_found', `${appId} was removed while it was being installed.`);
  return { installation, permissions: installation.grants };
}

/** @returns why it does not run; `null` where it does, or is just slow */
async function start({ nodes }: CoreContext, { id }: OwnInstallation): Promise<string | null> {
  try {
    const { state, reason } = await nodes.start(id);
    return state === 'running' ? null : (reason ?? null);
  } catch (error) {
    if (!(error instanceof RefusalError)) throw error;
    return error.refusal.detail ?? null;
  }
}

/** What a manifest requests beyond these grants. */
export function missingGrants(manifest: Pick<Manifest, 'permissions' | 'frontend'>, held: readonly Grant[]): Grant[] {
  const requested = requestedGrants(manifest);
  const excess = excessGrants(held, requested);
  return requested
    .map(({ id }) => ({
      id,
      resources: excess.filter((one) => one.id === id).map(({ resource }) => resource),
    }))
    .filter(({ resources }) => resources.length > 0);
}

/** What a development version requests that neither is granted nor was requested, and so refused, before. */
export async function newRequests(
  { database }: Pick<CoreContext, 'database'>,
  accountKey: string,
  manifest: Manifest,
): Promise<Grant[]> {
  const before = await selectOwn(database, accountKey, manifest.id);
  const known = before === undefined ? [] : [...before.grants, ...requestedGrants(before.manifest)];
  return missingGrants(manifest, before?.grants ?? [])
    .map(({ id, resources }) => ({ id, resources: resources.filter((one) => !allows(known, id, one)) }))
    .filter(({ resources }) => resources.length > 0);
}

/** @throws RefusalError `not_authorized` for an app that the account did not publish, or that nobody did */
export async function requireOwnApp(
  { database }: Pick<CoreContext, 'database'>,
  accountKey: string,
  appId: string,
): Promise<void> {
  const owner = await findOwner(database, appId);
  if (owner === undefined || owner.system || owner.ownerKey !== accountKey)
    throw refuse('not_authorized', `The token of a command line is for apps of your own, and ${appId} is not one.`);
}
