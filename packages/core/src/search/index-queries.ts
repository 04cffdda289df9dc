// The SQL that writes a search index; queries.ts reads it.
import type { InstallationId } from '@platform/contract';
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { enqueueIndexUpdates, notifyFeed } from './outbox-queries.ts';
import { MARK_LENGTH } from './word-mark.ts';

type Trx = Transaction<DatabaseSchema>;

export interface IndexOwner {
  readonly installationId: InstallationId;
  readonly accountKey: string;
  readonly appId: string;
}

/**
 * Serialises writes to an installation's index, also against removal of the app. Locks the row first, as removal does,
 * so that the two cannot deadlock.
 *
 * @returns false when the installation is gone
 */
export async function lockIndex(trx: Trx, installationId: InstallationId): Promise<boolean> {
  const row = await trx
    .selectFrom('installed_apps')
    .select('id')
    .where('id', '=', installationId)
    .forKeyShare()
    .executeTakeFirst();
  await holdIndex(trx, installationId);
  await notifyFeed(trx);
  return row !== undefined;
}

/** Takes the index's advisory lock until the transaction ends. */
export async function holdIndex(trx: Trx, installationId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${installationId}, 4208))`.execute(trx);
}

export interface IndexedEntry {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  readonly digest: Buffer;
  readonly vector: string;
}

/** A word, and how many of the changed entries held it. */
export interface LostLexeme {
  readonly lexeme: string;
  readonly entries: number;
}

/** Lexemes without their account prefix. @param documents a query for the tsvectors that hold them */
function lexemesIn(documents: RawBuilder<unknown>): RawBuilder<LostLexeme> {
  return sql`
    SELECT right(marked.lexeme, ${sql.lit(-MARK_LENGTH)}) AS lexeme, count(*)::int AS entries
      FROM (${documents}) AS lost, unnest(tsvector_to_array(lost.document)) AS marked (lexeme)
     GROUP BY marked.lexeme`;
}

/**
 * Adds entries, or replaces those of the same id.
 *
 * @returns the words of the replaced entries, with how many of them held each
 */
export async function upsertEntries(
  trx: Trx,
  { installationId, accountKey, appId }: IndexOwner,
  entries: readonly IndexedEntry[],
): Promise<readonly LostLexeme[]> {
  const column = (name: keyof IndexedEntry) => entries.map((entry) => entry[name]);
  // Every part of a statement sees the rows as they were before it.
  const replaced = sql`SELECT document FROM search_entries
                        WHERE installation_id = ${installationId} AND id = ANY(${column('id')}::text[])`;
  const { rows } = await sql<LostLexeme>`
    WITH lost AS (${lexemesIn(replaced)}), written AS (
    INSERT INTO search_entries (installation_id, account_key, app_id, id, title, kind, url, digest, document)
    SELECT ${installationId}, ${accountKey}, ${appId}, id, title, kind, url, digest, vector::tsvector
      FROM unnest(${column('id')}::text[], ${column('title')}::text[], ${column('kind')}::text[],
                  ${column('url')}::text[], ${column('digest')}::bytea[], ${column('vector')}::text[])
           AS entry (id, title, kind, url, digest, vector)
    ON CONFLICT (installation_id, id) DO UPDATE
       SET title = EXCLUDED.title, kind = EXCLUDED.kind, url = EXCLUDED.url, digest = EXCLUDED.digest,
           document = EXCLUDED.document
    RETURNING installation_id, id, account_key),
    queued AS (${enqueueIndexUpdates('written')})
    SELECT lexeme, entries FROM lost`.execute(trx);
  return rows;
}

export interface ListedEntry {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly url: string;
}

/** The entries of an installation, by id. */
export function listEntries(
  db: Kysely<DatabaseSchema>,
  installationId: InstallationId,
  page: { readonly after: string; readonly limit: number },
): Promise<ListedEntry[]> {
  return db
    .selectFrom('search_entries')
    .select(['id', 'title', 'kind', 'url'])
    .where('installation_id', '=', installationId)
    .where('id', '>', page.after)
    .orderBy('id')
    .limit(page.limit)
    .execute();
}

/** The digest of each entry's contents by entry id, of all entries of an installation or of those in `ids`. */
export async function entryDigests(
  trx: Trx,
  installationId: InstallationId,
  ids?: readonly string[],
): Promise<Map<string, Buffer>> {
  const all = trx.selectFrom('search_entries').select(['id', 'digest']).where('installation_id', '=', installationId);
  const rows = await (ids === undefined ? all : all.where(sql<boolean>`id = ANY(${ids}::text[])`)).execute();
  return new Map(rows.map(({ id, digest }) => [id, digest]));
}

/** Number of entries of an installation. */
export async function countEntries(trx: Trx, installationId: InstallationId): Promise<number> {
  const { count } = await trx
    .selectFrom('search_entries')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('installation_id', '=', installationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes entries and queues the change. @returns the words they held, with how many of them held each */
export async function deleteEntries(
  trx: Trx,
  installationId: InstallationId,
  ids: readonly string[],
): Promise<readonly LostLexeme[]> {
  const { rows } = await sql<LostLexeme>`
    WITH gone AS (
      DELETE FROM search_entries WHERE installation_id = ${installationId} AND id = ANY(${ids}::text[])
      RETURNING installation_id, id, account_key, document),
    queued AS (${enqueueIndexUpdates('gone')})
    ${lexemesIn(sql`SELECT document FROM gone`)}`.execute(trx);
  return rows;
}

/** Deletes all entries and words of an installation and queues the change. */
export async function deleteIndex(trx: Kysely<DatabaseSchema>, installationId: InstallationId): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM search_entries WHERE installation_id = ${installationId}
      RETURNING installation_id, id, account_key)
    ${enqueueIndexUpdates('gone')}`.execute(trx);
  await trx.deleteFrom('search_words').where('installation_id', '=', installationId).execute();
}

/** Words whose count changed, each member an array literal of PostgreSQL in the same order. */
export interface CountedWords {
  readonly words: string;
  /** The change of each word's entry count, positive or negative. */
  readonly entries: string;
  readonly grams: string;
  readonly remains: string;
}

/**
 * Adds the changes to the words' entry counts; deletes words that no entry holds any more. The members of
 * `CountedWords` are array literals of one length.
 *
 * @param room how many new words may be added; words beyond that are found only when spelt exactly
 */
export async function countWords(
  trx: Trx,
  { installationId, accountKey }: IndexOwner,
  { words, entries, grams, remains }: CountedWords,
  room: number,
): Promise<void> {
  await sql`
    WITH counted AS (
      SELECT * FROM unnest(${words}::text[], ${entries}::int[], ${grams}::text[], ${remains}::text[])
                           AS c (word, entries, grams, remains)
    ), known AS (
      UPDATE search_words w SET entries = w.entries + counted.entries FROM counted
       WHERE w.installation_id = ${installationId} AND w.word = counted.word AND w.entries + counted.entries > 0
      RETURNING w.word
    ), unused AS (
      DELETE FROM search_words w USING counted
       WHERE w.installation_id = ${installationId} AND w.word = counted.word AND w.entries + counted.entries <= 0
    )
    INSERT INTO search_words (installation_id, account_key, word, entries, grams, remains)
    SELECT ${installationId}, ${accountKey}, word, entries, grams, string_to_array(remains, ' ')
      FROM counted WHERE entries > 0 AND NOT EXISTS (SELECT FROM known WHERE known.word = counted.word)
     LIMIT ${Math.max(0, room)}`.execute(trx);
}

/** Number of distinct words of an installation. */
export async function distinctWords(trx: Trx, installationId: InstallationId): Promise<number> {
  const { count } = await trx
    .selectFrom('search_words')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('installation_id', '=', installationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
