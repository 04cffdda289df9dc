// All SQL of raw object storage.
import type { InstallationId } from '@platform/contract';
import { sql } from 'kysely';
import type { Executor } from '../database/schema.ts';
import type { Entitlement } from './offers-storage.ts';

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

export interface AbandonedObjects {
  readonly id: InstallationId;
  readonly attempts: number;
  readonly abandonedAt: Date;
}

/** Takes those whose deletion is due, until `until`. */
export async function claimAbandonedObjects(
  db: Executor,
  { now, until, atMost }: { readonly now: Date; readonly until: Date; readonly atMost: number },
): Promise<AbandonedObjects[]> {
  const { rows } = await sql<AbandonedObjects>`
    UPDATE abandoned_objects SET due_at = ${until}, attempts = attempts + 1
     WHERE installation_id IN (
       SELECT installation_id FROM abandoned_objects WHERE due_at <= ${now}
        ORDER BY due_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
    RETURNING installation_id AS id, attempts, abandoned_at AS "abandonedAt"`.execute(db);
  return rows;
}

export async function nextAbandonedObjects(db: Executor): Promise<Date | null> {
  const row = await db
    .selectFrom('abandoned_objects')
    .select(({ fn }) => fn.min('due_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? null;
}

/** `attempts` counts failures in a row. */
export async function postponeAbandonedObjects(
  db: Executor,
  id: InstallationId,
  to: { readonly dueAt: Date; readonly attempts: number },
): Promise<void> {
  await db
    .updateTable('abandoned_objects')
    .set({ due_at: to.dueAt, attempts: to.attempts })
    .where('installation_id', '=', id)
    .execute();
}

export async function forgetAbandonedObjects(db: Executor, id: InstallationId): Promise<void> {
  await db.deleteFrom('abandoned_objects').where('installation_id', '=', id).execute();
}
