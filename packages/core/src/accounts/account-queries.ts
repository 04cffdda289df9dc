// Accounts by name, for the operator's commands on the server.
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
