// The accounts of the platform with what they take of it, for the operator.
import { type ListedAccount, limits } from '@platform/contract';
import { masterName, planOf, selectAccounts } from '../accounts/face.ts';
import type { CoreContext } from '../context.ts';
import { selectUseByApp, type UseByApp } from '../disk/face.ts';

/** By name, at most `limit` of those after `after`; with `name` only those that contain it. */
export async function listAccountsWithUse(
  context: Pick<CoreContext, 'database' | 'clock' | 'config' | 'settings'>,
  page: { readonly after: string; readonly limit: number; readonly name?: string | undefined },
): Promise<ListedAccount[]> {
  const { database, clock } = context;
  const settings = await context.settings.current();
  const accounts = await selectAccounts(database, clock(), page);
  const use = Map.groupBy(
    await selectUseByApp(
      database,
      accounts.map(({ key }) => key),
    ),
    ({ accountKey }) => accountKey,
  );
  const master = await masterName(context);
  return accounts.map((account) => ({
    name: account.name,
    state: account.suspended_at !== null ? 'suspended' : account.paused_at !== null ? 'paused' : 'active',
    plan: planOf(settings, account.plan),
    ownPlan: account.plan !== null,
    master: account.name === master,
    createdAt: account.created_at.toISOString(),
    lastSeenAt: account.last_used_at?.toISOString() ?? null,
    sessions: account.sessions,
    deletesAt: account.deletes_at?.toISOString() ?? null,
    ...usedBy(use.get(account.key) ?? []),
  }));
}

function usedBy(apps: readonly UseByApp[]): Pick<ListedAccount, 'apps' | 'diskBytes' | 'disk'> {
  const bytesOf = ({ volumeBytes, packageBytes, imageBytes }: UseByApp) => volumeBytes + packageBytes + imageBytes;
  return {
    apps: apps.filter(({ installed }) => installed).length,
    diskBytes: apps.reduce((sum, app) => sum + bytesOf(app), 0),
    disk: apps
      .filter((app) => bytesOf(app) > 0)
      .sort((one, other) => bytesOf(other) - bytesOf(one))
      .slice(0, limits.accountApps.value)
      .map(({ appId, name, volumeBytes, packageBytes, imageBytes }) => ({
        appId,
        name,
        volumeBytes,
        packageBytes,
        imageBytes,
      })),
  };
}
