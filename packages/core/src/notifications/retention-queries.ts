// The SQL that removes notifications: those that are too old, and those beyond an account's limit. Each statement
// removes a bounded number and skips locked rows.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;

/**
 * Removes records older than `before`, among the `most` oldest: ordered by sequence, so no index on age is needed.
 *
 * @returns how many were removed
 */
export async function removeOlder(database: Database, before: Date, most: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM notifications WHERE sequence IN (
      SELECT sequence FROM notifications
       WHERE sequence = ANY (ARRAY(SELECT sequence FROM notifications ORDER BY sequence LIMIT ${most}))
         AND created_at < ${before}
         FOR UPDATE SKIP LOCKED)`.execute(database);
  return Number(numAffectedRows ?? 0n);
}

export interface AccountPage {
  /** The last account looked at; `null` when there are no more. */
  readonly last: string | null;
  /** Accounts with more than `kept` records, and the newest sequence beyond that limit. */
  readonly surplus: readonly { readonly accountKey: string; readonly upTo: string }[];
}

/** Counts the records of the next accounts, in the order of their keys, with an index-only scan. */
export async function accountsWithSurplus(
  database: Database,
  { after, accounts, kept }: { readonly after: string; readonly accounts: number; readonly kept: number },
): Promise<AccountPage> {
  const { rows } = await sql<{ account_key: string; up_to: string | null }>`
    WITH RECURSIVE page AS (
      (SELECT account_key, 1 AS number FROM notifications WHERE account_key > ${after} ORDER BY account_key LIMIT 1)
      UNION ALL
      SELECT (SELECT account_key FROM notifications WHERE account_key > page.account_key ORDER BY account_key LIMIT 1),
             number + 1
        FROM page WHERE number < ${accounts} AND account_key IS NOT NULL
    )
    SELECT account_key,
           (SELECT sequence FROM notifications AS own WHERE own.account_key = page.account_key
             ORDER BY sequence DESC OFFSET ${kept} LIMIT 1) AS up_to
      FROM page WHERE account_key IS NOT NULL ORDER BY number`.execute(database);
  return {
    last: rows.at(-1)?.account_key ?? null,
    surplus: rows.flatMap(({ account_key, up_to }) =>
      up_to === null ? [] : [{ accountKey: account_key, upTo: up_to }],
    ),
  };
}

/** @returns how many were removed */
export async function removeUpTo(
  database: Database,
  { accountKey, upTo }: AccountPage['surplus'][number],
  most: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM notifications WHERE sequence IN (
      SELECT sequence FROM notifications WHERE account_key = ${accountKey} AND sequence <= ${upTo}
      ORDER BY sequence LIMIT ${most} FOR UPDATE SKIP LOCKED)`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
