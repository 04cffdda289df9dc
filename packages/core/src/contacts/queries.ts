// All SQL of contacts.
import type { ContactId } from '@platform/contract';
import { type Selectable, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

export type ContactRow = Selectable<DatabaseSchema['contacts']>;

/** Serialises what adds contacts to an account. */
export async function lockContacts(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${accountKey}, 4231))`.execute(trx);
}

export async function countContacts(db: Executor, accountKey: string): Promise<number> {
  const { count } = await db
    .selectFrom('contacts')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('account_key', '=', accountKey)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @returns `undefined` when the account has a contact of this address */
export async function insertContact(db: Executor, row: ContactRow): Promise<ContactRow | undefined> {
  return db
    .insertInto('contacts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['account_key', 'address']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** After the contact of this id, oldest first. */
export async function selectContacts(
  db: Executor,
  accountKey: string,
  { after, limit }: { readonly after: ContactId | ''; readonly limit: number },
): Promise<ContactRow[]> {
  return db
    .selectFrom('contacts')
    .selectAll()
    .where('account_key', '=', accountKey)
    .where('id', '>', after as ContactId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** @returns `undefined` when there is none */
export async function updateContact(
  db: Executor,
  { accountKey, id }: { readonly accountKey: string; readonly id: ContactId },
  change: { readonly label?: string | undefined; readonly note?: string | undefined },
): Promise<ContactRow | undefined> {
  const { rows } = await sql<ContactRow>`
    UPDATE contacts SET label = coalesce(${change.label ?? null}, label), note = coalesce(${change.note ?? null}, note)
     WHERE account_key = ${accountKey} AND id = ${id} RETURNING *`.execute(db);
  return rows[0];
}

/** @returns whether there was one */
export async function deleteContact(db: Executor, accountKey: string, id: ContactId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('contacts')
    .where('account_key', '=', accountKey)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
