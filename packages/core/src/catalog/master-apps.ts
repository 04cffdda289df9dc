// System apps for the master account only. For all other accounts they do not exist.
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
