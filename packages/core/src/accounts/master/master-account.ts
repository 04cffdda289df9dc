// The account that looks after the whole platform: the one that PLATFORM_MASTER_ACCOUNT names or, where that is not set, the one
// that was named at the console. Names never change and are never given twice.
import type { CoreConfig } from '../../config/config.ts';
import { StartError } from '../../config/start-error.ts';
import type { CoreContext } from '../../context.ts';
import { selectNamedMaster } from './master-queries.ts';

type Settings = Pick<CoreContext, 'database'> & { readonly config: Pick<CoreConfig, 'masterAccount'> };

/** Its name; `null` where nobody is named. An account of the name that the configuration gives need not be there. */
export async function masterName({ config, database }: Settings): Promise<string | null> {
  return config.masterAccount ?? (await selectNamedMaster(database))?.name ?? null;
}

/** Read at each use: whoever ceases to be the master has nothing of it from then on. */
export async function isMaster(settings: Settings, accountName: string): Promise<boolean> {
  return (await masterName(settings)) === accountName;
}

/** @throws StartError `master_account_differs` where the configuration names another account than the console */
export async function requireOneMaster({ config, database }: Settings): Promise<void> {
  const { masterAccount } = config;
  if (masterAccount === null) return;
  const named = await selectNamedMaster(database);
  if (named === undefined || named.name === masterAccount) return;
  throw new StartError(
    'master_account_differs',
    `PLATFORM_MASTER_ACCOUNT is ${masterAccount}, but ${named.name} was made the operator with \`./platform account operator ${named.name}\`. Unset PLATFORM_MASTER_ACCOUNT, or take that back first: ./platform account operator --withdraw`,
  );
}
