// Accounts by name, for the operator's commands on the server.
import { refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';

/** An account by its key and the name that people read. */
export interface NamedAccount {
  readonly key: string;
  readonly name: string;
}

/** @returns the account, suspended or not, or `undefined` when no account has the name */
export async function findAccount(
  { database }: Pick<CoreContext, 'database'>,
  name: string,
): Promise<(NamedAccount & { readonly suspended: boolean }) | undefined> {
  const row = await database
    .selectFrom('accounts')
    .select(['key', 'name', 'suspended_at'])
    .where('name', '=', name)
    .executeTakeFirst();
  return row && { key: row.key, name: row.name, suspended: row.suspended_at !== null };
}

/** Whether the account is there, suspended or not. */
export async function isAccount({ database }: Pick<CoreContext, 'database'>, key: string): Promise<boolean> {
  return (await database.selectFrom('accounts').select('key').where('key', '=', key).executeTakeFirst()) !== undefined;
}

/** The oldest accounts that are not suspended, at most `limit`. */
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
export async function requireAccountOf(context: Pick<CoreContext, 'database'>, name: string): Promise<string> {
  const account = await findAccount(context, name);
  if (account === undefined) throw refuse('not_found', `There is no account named ${name}.`);
  return account.key;
}
