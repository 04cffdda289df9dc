// Accounts by name, for the operator's commands on the server.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';

export interface NamedAccount {
  readonly key: string;
  readonly name: string;
}

/** @returns the account, or `undefined` when no account has the name, or it is suspended */
export function findAccount(
  { database }: Pick<CoreContext, 'database'>,
  name: string,
): Promise<NamedAccount | undefined> {
  return database
    .selectFrom('accounts')
    .select(['key', 'name'])
    .where('name', '=', name)
    .where('suspended_at', 'is', null)
    .executeTakeFirst();
}

/** The oldest accounts, at most `limit`. */
export function listAccounts({ database }: Pick<CoreContext, 'database'>, limit: number): Promise<NamedAccount[]> {
  return database
    .selectFrom('accounts')
    .select(['key', 'name'])
    .where('suspended_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
}

/** @returns the key of an account, suspended or not. @throws RefusalError `not_found` */
export async function requireAccountOf({ database }: Pick<CoreContext, 'database'>, name: string): Promise<string> {
  const account = await database.selectFrom('accounts').select('key').where('name', '=', name).executeTakeFirst();
  if (account === undefined) throw refuse('not_found', `There is no account named ${name}.`);
  return account.key;
}
