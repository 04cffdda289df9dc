// The SQL of the outbox: which entries another engine was not told of yet. Written with the entries, in one statement.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { notifyStatement } from '../database/signals.ts';
import { MARK_LENGTH } from './word-mark.ts';

type Executor = Kysely<DatabaseSchema>;

/** The end of a statement whose `WITH` names the entries that it changed; does nothing while there is no other engine. */
export function toldLater(changed: 'written' | 'gone'): RawBuilder<unknown> {
  return sql`
    INSERT INTO search_outbox (installation_id, entry_id, account_key)
    SELECT installation_id, id, account_key FROM ${sql.table(changed)} WHERE EXISTS (SELECT FROM search_feeds)
    ON CONFLICT (installation_id, entry_id) DO UPDATE SET sequence = EXCLUDED.sequence`;
}

/** Wakes whoever tells the other engine, when the transaction commits; nobody while there is none. */
export async function notifyFeed(trx: Executor): Promise<void> {
  const { values } = notifyStatement('search-queued', {});
  await sql`SELECT pg_notify(${values[0]}, ${values[1]}) WHERE EXISTS (SELECT FROM search_feeds)`.execute(trx);
}

export interface WaitingEntry {
  readonly installation_id: string;
  readonly entry_id: string;
  readonly sequence: string;
}

export async function nextWaiting(trx: Executor, most: number): Promise<WaitingEntry[]> {
  return trx
    .selectFrom('search_outbox')
    .select(['installation_id', 'entry_id', 'sequence'])
    .orderBy('sequence')
    .limit(most)
    .execute();
}

/** What an entry is made of now: its words as they are indexed, never its text. */
export interface IndexedWords {
  readonly installation_id: string;
  readonly entry_id: string;
  readonly account_key: string;
  readonly app_id: string;
  readonly kind: string;
  readonly title_words: string[];
  readonly other_words: string[];
}

export async function wordsOf(trx: Executor, waiting: readonly WaitingEntry[]): Promise<IndexedWords[]> {
  const { rows } = await sql<IndexedWords>`
    SELECT e.installation_id, e.id AS entry_id, e.account_key, e.app_id, e.kind, w.title_words, w.other_words
      FROM unnest(${waiting.map((row) => row.installation_id)}::text[],
                  ${waiting.map((row) => row.entry_id)}::text[]) AS asked (installation_id, entry_id)
      JOIN search_entries e ON e.installation_id = asked.installation_id AND e.id = asked.entry_id
     CROSS JOIN LATERAL (
       SELECT coalesce(array_agg(lexeme) FILTER (WHERE weights && '{A,B}'), '{}') AS title_words,
              coalesce(array_agg(lexeme) FILTER (WHERE NOT weights && '{A,B}'), '{}') AS other_words
         FROM (SELECT right(lexeme, ${-MARK_LENGTH}) AS lexeme, weights FROM unnest(e.document)) AS unmarked) AS w`.execute(
    trx,
  );
  return rows;
}

/** Those that changed again meanwhile stay; whoever is changing one now is not waited for. @returns how many went */
export async function forgetTold(trx: Executor, told: readonly WaitingEntry[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM search_outbox WHERE (installation_id, entry_id) IN (
      SELECT o.installation_id, o.entry_id
        FROM unnest(${told.map((row) => row.installation_id)}::text[], ${told.map((row) => row.entry_id)}::text[],
                    ${told.map((row) => row.sequence)}::bigint[]) AS told (installation_id, entry_id, sequence)
        JOIN search_outbox o USING (installation_id, entry_id, sequence)
         FOR UPDATE OF o SKIP LOCKED)`.execute(trx);
  return Number(numAffectedRows);
}

/** Entries that wait. */
export async function countWaiting(db: Executor): Promise<number> {
  const { count } = await db
    .selectFrom('search_outbox')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
