// All SQL of who takes part in messaging, and of the server name that their addresses have.
import { sql } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { Executor } from '../database/schema.ts';
import type { Address } from './addresses.ts';

/** Keeps the name unless one is kept. @returns the one that is kept */
export async function keepServerName(db: Executor, name: string, now: Date): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    WITH kept AS (
      INSERT INTO messaging_server (name, kept_at) VALUES (${name}, ${now}) ON CONFLICT DO NOTHING RETURNING name)
    SELECT name FROM kept UNION ALL SELECT name FROM messaging_server LIMIT 1`.execute(db);
  return rows[0]?.name ?? name;
}

/** `undefined` before the first provisioning. */
export async function selectServerName(db: Executor): Promise<string | undefined> {
  return (await db.selectFrom('messaging_server').select('name').executeTakeFirst())?.name;
}

/** Whether an account takes part, and whether the bridge was asked about it; `undefined` for one that does not. */
export async function findParty(db: Executor, accountKey: string): Promise<{ readonly bridged: boolean } | undefined> {
  return db.selectFrom('messaging_accounts').select('bridged').where('account_key', '=', accountKey).executeTakeFirst();
}

/** Of an account that is there. */
export async function insertAccount(db: Executor, accountKey: string, now: Date): Promise<void> {
  await db
    .insertInto('messaging_accounts')
    .values({ account_key: accountKey, provisioned_at: now, changes: 0, sent_bytes: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function markBridged(db: Executor, accountKey: string): Promise<void> {
  await db.updateTable('messaging_accounts').set({ bridged: true }).where('account_key', '=', accountKey).execute();
}

export interface AccountRow {
  readonly key: string;
  readonly name: string;
}

/** The account that an address names; `undefined` for nobody, and for somebody elsewhere. */
export async function accountOfAddress(
  { database }: Pick<CoreContext, 'database'>,
  address: Address,
): Promise<AccountRow | undefined> {
  return address.kind === 'local' ? await findByName(database, address.name) : undefined;
}

async function findByName(db: Executor, name: string): Promise<AccountRow | undefined> {
  return db.selectFrom('account_states').select(['key', 'name']).where('name', '=', name).executeTakeFirst();
}

export async function findByKey(db: Executor, key: string): Promise<AccountRow | undefined> {
  return db.selectFrom('account_states').select(['key', 'name']).where('key', '=', key).executeTakeFirst();
}
