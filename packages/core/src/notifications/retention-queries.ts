// The SQL that removes notifications: those that are too old, and those beyond an account's limit. Each statement
// removes a bounded number and skips locked rows.

import { type Kysely, sql } from 'kysely';
import type { ProvenTime } from '../clock/clock-guard.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;

/**
 * Removes records older than `before`, among the `most` oldest: ordered by sequence, so no index on age is needed.
 *
 * @returns how many were removed
 */
export async function removeOlder(database: Database, before: ProvenTime, most: number): Promise<number> {
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
  /** Accounts with more than `kept` records. */
  readonly surplus: readonly string[];
}

/** Counts the records of the next accounts, in the order of their keys, with an index-only scan. */
export async function accountsWithSurplus(
  database: Database,
  { after, accounts, kept }: { readonly after: string; readonly accounts: number; readonly kept: number },
): Promise<AccountPage> {
  const { rows } = await sql<{ account_key: string; beyond: boolean }>`
    WITH RECURSIVE page AS (
      (SELECT account_key, 1 AS number FROM notifications WHERE account_key > ${after} ORDER BY account_key LIMIT 1)
      UNION ALL
      SELECT (SELECT account_key FROM notifications WHERE account_key > page.account_key ORDER BY account_key LIMIT 1),
             number + 1
        FROM page WHERE number < ${accounts} AND account_key IS NOT NULL
    )
    SELECT account_key,
           EXISTS (SELECT FROM notifications AS own WHERE own.account_key = page.account_key
                    ORDER BY sequence DESC OFFSET ${kept} LIMIT 1) AS beyond
      FROM page WHERE account_key IS NOT NULL ORDER BY number`.execute(database);
  return {
    last: rows.at(-1)?.account_key ?? null,
    surplus: rows.flatMap(({ account_key, beyond }) => (beyond ? [account_key] : [])),
  };
}

/**
 * Removes the oldest records of the publishers that have the most, so that each keeps as many as the others that have too many:
 * an app cannot push out what another one, or the platform, published.
 *
 * @param most records at once
 * @returns how many were removed
 */
export async function removeSurplus(
  database: Database,
  { accountKey, kept }: { readonly accountKey: string; readonly kept: number },
  most: number,
): Promise<number> {
  // With the publishers from the smallest on, each takes what it has, as long as that is no more than an equal part of the room
  // that is left; from the first one for which it is more, an equal part is what each keeps.
  const { numAffectedRows } = await sql`
    WITH publishers AS (
      SELECT installation_id, count(*) AS has,
             count(*) OVER () - row_number() OVER by_size + 1 AS others,
             coalesce(sum(count(*)) OVER (by_size ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
        FROM notifications WHERE account_key = ${accountKey} GROUP BY installation_id
      WINDOW by_size AS (ORDER BY count(*), installation_id)
    ), part AS (
      SELECT greatest(floor((${kept} - before) / others), 1)::bigint AS size FROM publishers
       WHERE has > (${kept} - before) / others ORDER BY has, installation_id LIMIT 1
    ), numbered AS (
      SELECT sequence, row_number() OVER (PARTITION BY installation_id ORDER BY sequence DESC) AS number
        FROM notifications WHERE account_key = ${accountKey}
    )
    DELETE FROM notifications WHERE sequence IN (
      SELECT sequence FROM notifications
       WHERE sequence = ANY (ARRAY(SELECT sequence FROM numbered, part WHERE number > part.size ORDER BY sequence LIMIT ${most}))
         FOR UPDATE SKIP LOCKED)`.execute(database);
  return Number(numAffectedRows ?? 0n);
}
