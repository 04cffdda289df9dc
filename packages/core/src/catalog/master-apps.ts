// Apps of the platform that are of use to the master account alone. To everybody else they are not there.
import { isMaster } from '../accounts/master-account.ts';
import type { CoreContext } from '../context.ts';
import type { AppVersion } from './queries.ts';

export const masterAppIds: readonly string[] = ['fleet'];

export function isOfferedTo(
  context: Pick<CoreContext, 'config'>,
  accountName: string,
  { system, appId }: Pick<AppVersion, 'appId' | 'system'>,
): boolean {
  return !system || !masterAppIds.includes(appId) || isMaster(context, accountName);
}

/** Ids of apps of the platform that a list for this account leaves out. */
export function hiddenFrom(context: Pick<CoreContext, 'config'>, accountName: string): readonly string[] {
  return isMaster(context, accountName) ? [] : masterAppIds;
}
