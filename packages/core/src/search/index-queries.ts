// The SQL that writes a search index; queries.ts holds what asks it.
import type { InstallationId } from '@platform/contract';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';
import { gramsOf } from './grams.ts';
import { remainsOf } from './near-words.ts';
import { notifyFeed, toldLater } from './outbox-queries.ts';
import { MARK_LENGTH } from './word-mark.ts';

type Trx = Transaction<DatabaseSchema>;

export interface IndexOwner {
  readonly installationId: InstallationId;
  readonly accountKey: string;
  readonly appId: string;
}

/**
 * Lets the index of an installation be written by one transaction at a time, and not while the app is removed.
 * The row first, as removal does, so that the two never wait for each other in a circle.
 *
 * @returns false when the installation is gone
 */
export async function lockIndex(trx: Trx, installationId: InstallationId): Promise<boolean> {
  const row = await trx
    .selectFrom('installations')
    .select('id')
    .where('id', '=', installationId)
    .where('removed_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
  await holdIndex(trx, installationId);
  await notifyFeed(trx);
  return row !== undefined;
}

/** One transaction at a time. */
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

/** Adds entries, or replaces those of the same id, whose words were forgotten before. */
export async function upsertEntries(
  trx: Trx,
  { installationId, accountKey, appId }: IndexOwner,
  entries: readonly IndexedEntry[],
): Promise<void> {
  const column = (name: keyof IndexedEntry) => entries.map((entry) => entry[name]);
  await sql`
    WITH written AS (
    INSERT INTO search_entries (installation_id, account_key, app_id, id, title, kind, url, digest, document)
    SELECT ${installationId}, ${accountKey}, ${appId}, id, title, kind, url, digest, vector::tsvector
      FROM unnest(${column('id')}::text[], ${column('title')}::text[], ${column('kind')}::text[],
                  ${column('url')}::text[], ${column('digest')}::bytea[], ${column('vector')}::text[])
           AS entry (id, title, kind, url, digest, vector)
    ON CONFLICT (installation_id, id) DO UPDATE
       SET title = EXCLUDED.title, kind = EXCLUDED.kind, url = EXCLUDED.url, digest = EXCLUDED.digest,
           document = EXCLUDED.document
    RETURNING installation_id, id, account_key)
    ${toldLater('written')}`.execute(trx);
}

/** What each entry of an installation was made of. */
export async function entryDigests(
  trx: Trx,
  installationId: InstallationId,
  ids?: readonly string[],
): Promise<Map<string, Buffer>> {
  const all = trx.selectFrom('search_entries').select(['id', 'digest']).where('installation_id', '=', installationId);
  const rows = await (ids === undefined ? all : all.where(sql<boolean>`id = ANY(${ids}::text[])`)).execute();
  return new Map(rows.map(({ id, digest }) => [id, digest]));
}

export async function countEntries(trx: Trx, installationId: InstallationId): Promise<number> {
  const { count } = await trx
    .selectFrom('search_entries')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('installation_id', '=', installationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function deleteEntries(trx: Trx, installationId: InstallationId, ids: readonly string[]): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM search_entries WHERE installation_id = ${installationId} AND id = ANY(${ids}::text[])
      RETURNING installation_id, id, account_key)
    ${toldLater('gone')}`.execute(trx);
}

export async function deleteIndex(trx: Kysely<DatabaseSchema>, installationId: InstallationId): Promise<void> {
  await sql`
    WITH gone AS (
      DELETE FROM search_entries WHERE installation_id = ${installationId}
      RETURNING installation_id, id, account_key)
    ${toldLater('gone')}`.execute(trx);
  await trx.deleteFrom('search_words').where('installation_id', '=', installationId).execute();
}

/** The lexemes, without their marks, of entries that are about to change or go, with in how many of them each is. */
export async function lexemesOf(
  trx: Trx,
  installationId: InstallationId,
  ids: readonly string[],
): Promise<readonly { readonly lexeme: string; readonly entries: number }[]> {
  const { rows } = await sql<{ lexeme: string; entries: number }>`
    SELECT right(lexeme, ${-MARK_LENGTH}) AS lexeme, count(*)::int AS entries
      FROM search_entries, unnest(tsvector_to_array(document)) AS marked (lexeme)
     WHERE installation_id = ${installationId} AND id = ANY(${ids}::text[])
     GROUP BY marked.lexeme`.execute(trx);
  return rows;
}

/**
 * Notes in how many entries more, or fewer, each word is.
 *
 * @param room words that the index may still take in; further ones are found as they are, but not with a slip
 */
export async function countWords(
  trx: Trx,
  { installationId, accountKey }: IndexOwner,
  words: ReadonlyMap<string, number>,
  room: number,
): Promise<void> {
  const all = [...words.keys()];
  await sql`
    WITH counted AS (
      SELECT * FROM unnest(${all}::text[], ${[...words.values()]}::int[], ${all.map(gramsOf)}::text[],
                           ${all.map((word) => remainsOf(word).join(' '))}::text[]) AS c (word, entries, grams, remains)
    ), known AS (
      UPDATE search_words SET entries = search_words.entries + counted.entries FROM counted
       WHERE search_words.installation_id = ${installationId} AND search_words.word = counted.word
      RETURNING search_words.word
    )
    INSERT INTO search_words (installation_id, account_key, word, entries, grams, remains)
    SELECT ${installationId}, ${accountKey}, word, entries, grams, string_to_array(remains, ' ')
      FROM counted WHERE entries > 0 AND word NOT IN (SELECT word FROM known) LIMIT ${Math.max(0, room)}`.execute(trx);
}

export async function distinctWords(trx: Trx, installationId: InstallationId): Promise<number> {
  const { count } = await trx
    .selectFrom('search_words')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('installation_id', '=', installationId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Removes the words that no entry holds any more. */
export async function dropUnusedWords(trx: Trx, installationId: InstallationId): Promise<void> {
  await trx
    .deleteFrom('search_words')
    .where('installation_id', '=', installationId)
    .where('entries', '<=', 0)
    .execute();
}
