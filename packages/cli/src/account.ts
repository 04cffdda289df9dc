// The account that a command of the operator names.
import { type CoreContext, findAccount, type NamedAccount } from '@platform/core/operator';
import { StartError } from '@platform/core/start';

/** @throws StartError when there is none of that name */
export async function requireAccount(context: CoreContext, name: string): Promise<NamedAccount> {
  const account = await findAccount(context, name.toLowerCase());
  if (account !== undefined) return account;
  throw new StartError('no_account', `There is no account named ${name}.`);
}
