// All SQL of accounts that are deleted, or about to be.

import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../../clock/clock-guard.ts';
import type { DatabaseSchema } from '../../database/schema.ts';

type Executor = Kysely<DatabaseSchema>;

/**
 * Marks the account, and pauses it unless it is. A pause that begins at the time of the mark belongs to it.
 *
 * @returns false when it was marked already
 */
export async function markForDeletion(db: Executor, accountKey: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    UPDATE accounts SET deletion_requested_at = ${now}, deletion_leased_until = NULL,
                        paused_at = coalesce(paused_at, ${now})
     WHERE key = ${accountKey} AND deletion_requested_at IS NULL
    RETURNING key`.execute(db);
  return rows.length > 0;
}

/** @returns whether the account is still paused by its owner; `undefined` when it was not marked */
export async function clearDeletion(
  db: Executor,
  accountKey: string,
): Promise<{ readonly paused: boolean } | undefined> {
  const { rows } = await sql<{ paused: boolean }>`
    UPDATE accounts SET deletion_requested_at = NULL, deletion_leased_until = NULL,
                        paused_at = CASE WHEN paused_at = deletion_requested_at THEN NULL ELSE paused_at END
     WHERE key = ${accountKey} AND deletion_requested_at IS NOT NULL
    RETURNING paused_at IS NOT NULL AS paused`.execute(db);
  return rows[0];
}

/** Links that the operator gave for the account stop working. */
export async function deleteEnrolmentLinks(db: Executor, accountKey: string): Promise<void> {
  await db.deleteFrom('enrolment_links').where('account_key', '=', accountKey).execute();
}

/** `requestedBefore`: only if its owner asked for the deletion then or earlier, and has not kept it since. */
export type Deleted =
  | { readonly key: string; readonly requestedBefore?: ProvenTime }
  | { readonly name: string; readonly requestedBefore?: never };

/** Locks an account, suspended or not, against everything else that changes it or adds to it. */
export function lockForDeletion(
  trx: Executor,
  by: Deleted,
): Promise<{ readonly key: string; readonly name: string } | undefined> {
  const [column, value] = 'key' in by ? (['key', by.key] as const) : (['name', by.name] as const);
  const { requestedBefore } = by;
  const named = trx.selectFrom('accounts').select(['key', 'name']).where(column, '=', value).forUpdate();
  return requestedBefore === undefined
    ? named.executeTakeFirst()
    : named.where('deletion_requested_at', '<=', requestedBefore).executeTakeFirst();
}

/** Accounts whose owners asked for the deletion at `requestedBefore` or earlier; leased until `until`. */
export async function claimDeletions(
  db: Executor,
  { requestedBefore, now, until, atMost }: { requestedBefore: ProvenTime; now: Date; until: Date; atMost: number },
): Promise<{ readonly key: string }[]> {
  const { rows } = await sql<{ key: string }>`
    UPDATE accounts SET deletion_leased_until = ${until}
     WHERE key IN (
       SELECT key FROM accounts
        WHERE deletion_requested_at <= ${requestedBefore}
          AND (deletion_leased_until IS NULL OR deletion_leased_until <= ${now})
        ORDER BY deletion_requested_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
    RETURNING key`.execute(db);
  return rows;
}

/** The oldest request, and until when it is leased. */
export async function oldestDeletion(
  db: Executor,
): Promise<{ readonly requestedAt: Date; readonly leasedUntil: Date | null } | undefined> {
  const { rows } = await sql<{ requestedAt: Date; leasedUntil: Date | null }>`
    SELECT deletion_requested_at AS "requestedAt", deletion_leased_until AS "leasedUntil"
      FROM accounts WHERE deletion_requested_at IS NOT NULL ORDER BY deletion_requested_at LIMIT 1`.execute(db);
  return rows[0];
}

/** Deletes the account and, by their references, all rows that belong to it. */
export async function deleteAccountRow(trx: Executor, key: string): Promise<void> {
  await trx.deleteFrom('accounts').where('key', '=', key).execute();
}

/** Keeps the name from being given again: its next owner would be taken for the former one. */
export async function rememberName(trx: Executor, name: string): Promise<void> {
  await trx
    .insertInto('former_account_names')
    .values({ name })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

/** Whether an account that was deleted had the name. */
export async function isFormerName(db: Executor, name: string): Promise<boolean> {
  const row = await db.selectFrom('former_account_names').select('name').where('name', '=', name).executeTakeFirst();
  return row !== undefined;
}
