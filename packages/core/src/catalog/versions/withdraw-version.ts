// Takes a version out of the catalog that nobody uses: its publisher does, the operator, and `platform dev`
// with what was published only to try something.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { packageBlobs } from '../package-file.ts';
import { findOwner, findPublishedHashes, listVersions, lockApp, setNewest } from '../queries.ts';
import { newestVersion } from './newest-version.ts';
import {
  deleteUnusedBlob,
  deleteVersion,
  findVersionUse,
  lockVersion,
  rememberWithdrawn,
  type VersionUse,
} from './withdraw-queries.ts';

interface NamedVersion {
  readonly appId: string;
  readonly version: string;
}

/**
 * For the account that publishes the app.
 *
 * @throws RefusalError `not_found`, `not_authorized` for the app of another publisher, `version_in_use`
 */
export async function deleteOwnVersion(
  context: CoreContext,
  { appId, version, publisher }: NamedVersion & { readonly publisher: string },
): Promise<void> {
  const owner = await findOwner(context.database, appId);
  if (owner === undefined) throw refuse('not_found', 'No such version is published.');
  // Never changes: an app id belongs to its first publisher.
  if (owner.system || owner.ownerKey !== publisher)
    throw refuse('not_authorized', 'Only the account that published the app can delete a version of it.');
  await requireWithdrawn(context, { appId, version });
}

/**
 * For the operator.
 *
 * @throws RefusalError `not_found`, `not_authorized` for apps that come with the platform, `version_in_use`
 */
export async function deleteAnyVersion(context: CoreContext, { appId, version }: NamedVersion): Promise<void> {
  const owner = await findOwner(context.database, appId);
  if (owner?.system === true)
    throw refuse('not_authorized', 'Apps that come with the platform are published again at every start.');
  await requireWithdrawn(context, { appId, version });
}

async function requireWithdrawn(context: CoreContext, named: NamedVersion): Promise<void> {
  const { appId, version } = named;
  const outcome = await withdraw(context, named, { remembered: true });
  if (outcome === 'withdrawn') return;
  if (outcome === 'unknown') throw refuse('not_found', 'No such version is published.');
  throw refuse(
    'version_in_use',
    outcome.kind === 'installed'
      ? `Version ${version} of ${appId} is installed. It can be deleted once nobody uses it.`
      : `People who updated from version ${version} of ${appId} can go back to it until ${day(outcome.until)}. It can be deleted after that.`,
  );
}

/**
 * Removes the version and its files, unless it is in use; its number is free again. For versions that were published
 * only to try something.
 *
 * @returns whether it was removed
 */
export async function withdrawVersion(context: CoreContext, appId: string, version: string): Promise<boolean> {
  return (await withdraw(context, { appId, version }, { remembered: false })) === 'withdrawn';
}

async function withdraw(
  context: CoreContext,
  { appId, version }: NamedVersion,
  { remembered }: { readonly remembered: boolean },
): Promise<'withdrawn' | 'unknown' | VersionUse> {
  const outcome = await context.database.transaction().execute(async (trx) => {
    // Held against publications of the same app, which read the list of versions too.
    await lockApp(trx, appId);
    if (!(await lockVersion(trx, appId, version))) return 'unknown' as const;
    const use = await findVersionUse(trx, { appId, version, proven: context.time.proven() });
    if (use !== null) return use;
    const hash = await deleteVersion(trx, appId, version);
    if (remembered) await rememberWithdrawn(trx, { appId, version, hash });
    const versions = await listVersions(trx, appId);
    if (versions.length > 0) await setNewest(trx, appId, newestVersion(versions));
    await deleteUnusedBlob(trx, hash);
    return { hash };
  });
  if (outcome === 'unknown' || 'kind' in outcome) return outcome;
  await removeFiles(context, appId, outcome.hash);
  return 'withdrawn';
}

/** `2026-11-23`, in UTC. */
function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** The sweep at the next start takes what a crash leaves here. */
async function removeFiles(context: CoreContext, appId: string, hash: string): Promise<void> {
  await context.database.transaction().execute(async (trx) => {
    // The same bytes may be published again just now, and then they stay.
    await lockApp(trx, appId);
    if ((await findPublishedHashes(trx, [hash])).has(hash)) return;
    // A package holds its own id and version, so nothing else in the catalog has these bytes.
    await packageBlobs(context).remove(hash);
  });
}
