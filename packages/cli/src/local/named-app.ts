// The app of an account that a command of the operator names.
import type { CoreContext } from '@platform/core/operator';
import { UsageError } from '../command.ts';
import { requireAccount } from './named-account.ts';

/** @throws UsageError unless `name` is `<account>/<app>`; StartError for an unknown account */
export async function ownedApp(context: CoreContext, name: string) {
  const [account = '', appId = '', ...rest] = name.split('/');
  if (account === '' || appId === '' || rest.length > 0) throw new UsageError('Write it as <account>/<app>.');
  return { account: await requireAccount(context, account), appId };
}
