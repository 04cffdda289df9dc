// The version of an app that an account sees: one it is offered, or one it has already.
import { refuse } from '@platform/contract';
import type { NamedAccount } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { isOfferedTo } from './master-apps.ts';
import {
  type AppVersion,
  findAppVersion,
  findUsedVersions,
  listLastVersions,
  type PublishedVersion,
} from './queries.ts';

export interface Offered {
  readonly release: AppVersion;
  /** Which other versions of the app the account sees; as `among` of {@link listLastVersions}. */
  readonly among: readonly string[] | 'public' | null;
}

/**
 * An app that became private stays visible to those who have it: in the version they have installed, and in the one they
 * can go back to.
 *
 * @param version absent takes the newest, or the installed one where the newest is not offered
 * @throws RefusalError `not_found`
 */
export async function findOffered(
  context: Pick<CoreContext, 'config' | 'database'>,
  account: NamedAccount,
  appId: string,
  version?: string,
): Promise<Offered> {
  const { database } = context;
  const release = await findAppVersion(database, appId, version);
  if (release !== undefined && (await isOfferedTo(context, account, release)))
    return { release, among: release.ownerKey === account.key ? null : 'public' };
  const { installed, former } = await findUsedVersions(database, account.key, appId);
  const wanted = version ?? installed;
  if (wanted === null || (wanted !== installed && wanted !== former)) throw refuse('not_found');
  const used = await findAppVersion(database, appId, wanted);
  if (used === undefined) throw refuse('not_found');
  return { release: used, among: [installed, former].filter((one) => one !== null) };
}

/** The versions beside it that the account sees, at most so many of those that were published last. */
export function listOffered(
  { database }: Pick<CoreContext, 'database'>,
  { release, among }: Offered,
  most: number,
): Promise<PublishedVersion[]> {
  return listLastVersions(database, release.appId, { most, among });
}
