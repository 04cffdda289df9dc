// Which apps exist for an account: system apps for the master account are for it only, a private app is for the account
// that published it, and that of a deleted account for those who have it. For all other accounts they do not exist.
import type { NamedAccount } from '../accounts/face.ts';
import { isMaster } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { masterAppIds } from './platform-app-ids.ts';
import type { AppVersion } from './queries.ts';

/** Whether the account may install this release: it sees it, and its publisher is not deleted. */
export async function isOfferedTo(
  context: Pick<CoreContext, 'config' | 'database'>,
  account: NamedAccount,
  release: Pick<AppVersion, 'appId' | 'system' | 'visibility' | 'ownerKey'>,
): Promise<boolean> {
  if (!isVisibleTo(account.key, release)) return false;
  const { system, appId, ownerKey } = release;
  if (!system && ownerKey === null) return false;
  return !system || !masterAppIds.includes(appId) || (await isMaster(context, account.name));
}

/** Whether the account sees this release: everything but the private apps of others. */
export function isVisibleTo(
  accountKey: string,
  { visibility, ownerKey }: Pick<AppVersion, 'visibility' | 'ownerKey'>,
): boolean {
  return visibility !== 'private' || ownerKey === accountKey;
}

/** Ids of apps of the platform that a list for this account leaves out. */
export async function hiddenFrom(
  context: Pick<CoreContext, 'config' | 'database'>,
  accountName: string,
): Promise<readonly string[]> {
  return (await isMaster(context, accountName)) ? [] : masterAppIds;
}
