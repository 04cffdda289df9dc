// All SQL of raw object storage.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import { JobTable } from '../background/job-queries.ts';
import type { Executor } from '../database/schema.ts';
import type { Entitlement } from './offers-storage.ts';

export const abandonedObjects = new JobTable<InstallationId>('abandoned_objects', 'installation_id');

/** `undefined` when it is not installed, or runs nowhere. */
export function selectEntitlement(db: Executor, installationId: InstallationId): Promise<Entitlement | undefined> {
  return db
    .selectFrom('installed_apps as i')
    .innerJoin('account_states as a', 'a.key', 'i.account_key')
    .innerJoin('known_nodes as n', 'n.id', 'i.node_id')
    .select(['a.plan', 'n.labels'])
    .where('i.id', '=', installationId)
    .executeTakeFirst();
}

/** From now on there may be objects of this installation. */
export async function rememberPrefix(db: Executor, id: InstallationId): Promise<void> {
  await db
    .insertInto('object_prefixes')
    .values({ installation_id: id })
    .onConflict((conflict) => conflict.column('installation_id').doNothing())
    .execute();
}

export async function isPrefixRemembered(db: Executor, id: InstallationId): Promise<boolean> {
  const row = await db
    .selectFrom('object_prefixes')
    .select('installation_id')
    .where('installation_id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

export async function forgetPrefix(db: Executor, id: InstallationId): Promise<void> {
  await db.deleteFrom('object_prefixes').where('installation_id', '=', id).execute();
}

/** All objects of an account, before its installations are deleted. */
export async function insertAbandonedObjects(trx: Executor, accountKey: string, now: Date): Promise<void> {
  await sql`
    INSERT INTO abandoned_objects (installation_id, due_at, abandoned_at)
    SELECT p.installation_id, ${now}, ${now} FROM object_prefixes p JOIN kept_installations i ON i.id = p.installation_id
     WHERE i.account_key = ${accountKey}`.execute(trx);
}

/** When the account was deleted. `undefined` when they are deleted already. */
export async function selectAbandonedAt(db: Executor, id: InstallationId): Promise<Date | undefined> {
  const row = await db
    .selectFrom('abandoned_objects')
    .select('abandoned_at')
    .where('installation_id', '=', id)
    .executeTakeFirst();
  return row?.abandoned_at;
}
