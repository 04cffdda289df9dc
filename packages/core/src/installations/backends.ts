// All installed backends of all accounts, for the operator's commands on the server. Not reachable over HTTP.
import type { InstallationId } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { type BackendRow, selectBackends } from './queries.ts';

/** A backend with the state that its node last reported. */
export type Backend = BackendRow;

/** All of them, by account and app. */
export function listBackends({ database }: Pick<CoreContext, 'database'>): Promise<Backend[]> {
  return selectBackends(database, {});
}

/**
 * The one that `name` means: an installation id, or `<account>/<app>`.
 *
 * @returns `undefined` when there is none, or the app has no backend
 */
export async function findBackend(
  { database }: Pick<CoreContext, 'database'>,
  name: string,
): Promise<Backend | undefined> {
  const [account, appId, ...rest] = name.split('/');
  if (rest.length > 0) return undefined;
  const selection =
    account !== undefined && appId !== undefined
      ? { account: account.toLowerCase(), appId }
      : { id: name as InstallationId };
  const [found] = await selectBackends(database, selection);
  return found;
}
