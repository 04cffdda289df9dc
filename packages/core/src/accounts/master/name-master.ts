// Making an account the master without a setting. No route does this: whoever calls it has the data folder and the database,
// as the operator's commands do (docs/decisions/first-operator.md).
import { refuse } from '@platform/contract';
import type { CoreContext } from '../../context.ts';
import { notify } from '../../database/notify.ts';
import { lockAccount } from '../queries.ts';
import { markMaster, unmarkMaster } from './master-queries.ts';

/** In place of a session, in the notice to the account. */
const AT_THE_CONSOLE = 'console';

/**
 * The account looks after the platform from now on. It is notified; every core logs it.
 *
 * @returns when it was registered
 * @throws RefusalError `not_found`, also for a suspended account; `account_closing`; `not_authorized` where there is a master
 */
export async function nameMaster(context: CoreContext, name: string): Promise<Date> {
  const { database, config, clock, lifecycle } = context;
  if (config.masterAccount !== null)
    throw refuse(
      'not_authorized',
      `PLATFORM_MASTER_ACCOUNT names ${config.masterAccount}, so nobody else can be made the operator. Change it and restart.`,
    );
  return database.transaction().execute(async (trx) => {
    const account = await lockAccount(trx, { name });
    if (account === undefined) throw refuse('not_found', `There is no account named ${name}, or it is suspended.`);
    if (account.deletion_requested_at !== null)
      throw refuse('account_closing', `${name} is about to be deleted. Its owner can keep it, after signing in.`);
    const { key: accountKey } = account;
    const former = await markMaster(trx, accountKey, clock());
    if (former?.key === accountKey) return account.created_at;
    if (former !== undefined)
      throw refuse(
        'not_authorized',
        `${former.name} is the operator. To name another one, take that back first: ./platform account operator --withdraw`,
      );
    await lifecycle.securityEvent(trx, { accountKey, sessionId: AT_THE_CONSOLE }, { kind: 'operator-named' });
    await notify(trx, 'master-changed', { accountKey, name, named: true });
    return account.created_at;
  });
}

/** Nobody looks after the platform any more. @returns who did; `null` where nobody was named at the console */
export async function withdrawMaster({ database, lifecycle }: CoreContext): Promise<string | null> {
  return database.transaction().execute(async (trx) => {
    const former = await unmarkMaster(trx);
    if (former === undefined) return null;
    const { key: accountKey, name } = former;
    await lifecycle.securityEvent(trx, { accountKey, sessionId: AT_THE_CONSOLE }, { kind: 'operator-withdrawn' });
    await notify(trx, 'master-changed', { accountKey, name, named: false });
    return name;
  });
}
