// The SQL of what is held in a transaction, so that neither removal nor revocation passes it.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import { type IdentityRow, identity } from './prepared-queries.ts';

/** The identity of an installed app, which no revocation and no removal changes until the transaction ends. */
export async function holdIdentity(trx: Executor, id: InstallationId): Promise<IdentityRow | undefined> {
  const { rows } = await sql<IdentityRow>`
    SELECT ${sql.raw(identity)} WHERE i.id = ${id} AND i.removed_at IS NULL FOR SHARE OF i`.execute(trx);
  return rows[0];
}

/** The installed app of an account, which is not removed until the transaction ends. */
export async function holdInstalled(
  trx: Executor,
  accountKey: string,
  appId: string,
): Promise<InstallationId | undefined> {
  const row = await trx
    .selectFrom('installations')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('app_id', '=', appId)
    .where('removed_at', 'is', null)
    .forShare()
    .executeTakeFirst();
  return row?.id;
}
