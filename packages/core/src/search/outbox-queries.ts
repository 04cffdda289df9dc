// The SQL of the outbox: pending updates of the external search index, queued by the statement that changes entries.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { notifyStatement } from '../database/signals.ts';
import { MARK_LENGTH } from './word-mark.ts';

type Executor = Kysely<DatabaseSchema>;

/**
 * The final part of a statement: queues the entries that its `WITH` clause `changed` returns for the external index.
 * Inserts nothing while no external index is configured.
 */
export function enqueueIndexUpdates(changed: 'written' | 'gone'): RawBuilder<unknown> {
  return sql`
    INSERT INTO search_outbox (installation_id, entry_id, account_key)
    SELECT installation_id, id, account_key FROM ${sql.table(changed)} WHERE EXISTS (SELECT FROM search_feeds)
    ON CONFLICT (installation_id, entry_id) DO UPDATE SET sequence = EXCLUDED.sequence`;
}

/** Wakes the feed when the transaction commits; sends no signal while no external index is configured. */
export async function notifyFeed(trx: Executor): Promise<void> {
  const { values } = notifyStatement('search-queued', {});
  await sql`SELECT pg_notify(${values[0]}, ${values[1]}) WHERE EXISTS (SELECT FROM search_feeds)`.execute(trx);
}

/** A queued change of an entry. `sequence` grows with every change and is the version sent to the index. */
export interface PendingEntry {
  readonly installation_id: string;
  readonly entry_id: string;
  readonly sequence: string;
}

/** The oldest `most` pending updates, oldest first. */
export async function nextPending(trx: Executor, most: number): Promise<PendingEntry[]> {
  return trx
    .selectFrom('search_outbox')
    .select(['installation_id', 'entry_id', 'sequence'])
    .orderBy('sequence')
    .limit(most)
    .execute();
}

/** An entry's current words as they are indexed, never its text. */
export interface IndexedWords {
  readonly installation_id: string;
  readonly entry_id: string;
  readonly account_key: string;
  readonly app_id: string;
  readonly kind: string;
  readonly title_words: string[];
  readonly other_words: string[];
}

/** The current words of pending entries, in any order; deleted entries are left out. */
export async function wordsOf(trx: Executor, pending: readonly PendingEntry[]): Promise<IndexedWords[]> {
  const { rows } = await sql<IndexedWords>`
    SELECT e.installation_id, e.id AS entry_id, e.account_key, e.app_id, e.kind, w.title_words, w.other_words
      FROM unnest(${pending.map((row) => row.installation_id)}::text[],
                  ${pending.map((row) => row.entry_id)}::text[]) AS pending (installation_id, entry_id)
      JOIN search_entries e ON e.installation_id = pending.installation_id AND e.id = pending.entry_id
     CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(lexeme) FILTER (WHERE weights && '{A,B}'), '{}') AS title_words,
              coalesce(array_agg(lexeme) FILTER (WHERE NOT weights && '{A,B}'), '{}') AS other_words
         FROM (SELECT right(lexeme, ${-MARK_LENGTH}) AS lexeme, weights FROM unnest(e.document)) AS unmarked) AS w`.execute(
    trx,
  );
  return rows;
}

/**
 * Deletes the updates that the external index has accepted. Keeps entries that changed again since they were read, and
 * skips rows that another transaction has locked.
 *
 * @returns how many were deleted
 */
export async function deleteSentUpdates(trx: Executor, sent: readonly PendingEntry[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM search_outbox WHERE (installation_id, entry_id) IN (
      SELECT o.installation_id, o.entry_id
        FROM unnest(${sent.map((row) => row.installation_id)}::text[], ${sent.map((row) => row.entry_id)}::text[],
                    ${sent.map((row) => row.sequence)}::bigint[]) AS sent (installation_id, entry_id, sequence)
        JOIN search_outbox o USING (installation_id, entry_id, sequence)
         FOR UPDATE OF o SKIP LOCKED)`.execute(trx);
  return Number(numAffectedRows);
}

/** Number of pending updates. */
export async function countPending(db: Executor): Promise<number> {
  const { count } = await db
    .selectFrom('search_outbox')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
