// Who can be paid: accounts of this platform, by their names.
import type { Executor } from '../database/schema.ts';

export interface Person {
  readonly key: string;
  readonly name: string;
}

/** Those of these names that are neither suspended nor about to be deleted. */
export function peopleNamed(db: Executor, names: readonly string[]): Promise<Person[]> {
  return db
    .selectFrom('account_states')
    .select(['key', 'name'])
    .where('name', 'in', [...names])
    .where('suspended_at', 'is', null)
    .where('deletion_requested_at', 'is', null)
    .execute();
}

/** The same by key, kept from suspension and deletion until the transaction ends. */
export function holdPerson(trx: Executor, key: string): Promise<Person | undefined> {
  return trx
    .selectFrom('account_states')
    .select(['key', 'name'])
    .where('key', '=', key)
    .where('suspended_at', 'is', null)
    .where('deletion_requested_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
}

export async function isPaused(db: Executor, key: string): Promise<boolean> {
  const row = await db.selectFrom('account_states').select('paused_at').where('key', '=', key).executeTakeFirst();
  return row != null && row.paused_at !== null;
}

export async function nameOf(db: Executor, key: string): Promise<string | undefined> {
  return (await db.selectFrom('account_states').select('name').where('key', '=', key).executeTakeFirst())?.name;
}
