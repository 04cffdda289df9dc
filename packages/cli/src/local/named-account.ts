// The account that a command of the operator names.
import { didYouMean } from '@platform/contract';
import { type CoreContext, findAccount, listAccountStates, type NamedAccount } from '@platform/core/operator';
import { StartError } from '@platform/core/start';

/** Suspended or not. @throws StartError when there is none of that name */
export async function requireAccount(
  context: CoreContext,
  name: string,
): Promise<NamedAccount & { readonly suspended: boolean }> {
  const account = await findAccount(context, name.toLowerCase());
  if (account !== undefined) return account;
  const names = (await listAccountStates(context)).map((known) => known.name);
  throw new StartError('no_account', `There is no account named ${name}${didYouMean(name, names)}.`);
}

/** @throws StartError always, with the command that ends the suspension */
export function refuseSuspended({ name }: NamedAccount): never {
  throw new StartError(
    'account_suspended',
    `${name} is suspended. Let its owner in again first: ./platform account resume ${name}`,
  );
}
