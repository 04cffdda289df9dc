// The SQL that reads the search index; index-queries.ts writes it.
import type pg from 'pg';
import type { FoundItem, FoundKey, SearchPage, SearchScope } from './engine.ts';
import { gramsOf } from './grams.ts';
import type { Matching } from './matching.ts';
import { remainsOf } from './near-words.ts';

/**
 * Ranks by where and how the words matched; then by the share of the title they make up, in quarters; then by how often
 * they occur. The sum stays below 1.
 *
 * @param first number of the first of four parameters that are a `Matching`; parameter 6 is the length of the query
 */
function scoreOf(first: 2 | 10): string {
  return `
  (CASE WHEN e.document @@ $${first + 3}::tsquery THEN 0.75
        WHEN e.document @@ $${first + 2}::tsquery THEN 0.5
        WHEN e.document @@ $${first + 1}::tsquery THEN 0.25
        ELSE 0 END
   + 0.15 * floor(4 * least(1, $6::float8 / char_length(e.title))) / 4
   + 0.1 * ts_rank('{0.05, 0.2, 0.6, 1}', e.document, $${first}::tsquery, 32))::float8`;
}

/** Words proposed for one typed word. */
const PROPOSED = 60;

/** Candidate words of the account's indexes for a misspelt one; the caller compares them letter by letter. */
function selectProposals(first: 2 | 10, resembling: string): string {
  return `
    SELECT typed.word AS typed, near.word
      FROM unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::text[]) AS typed (word, grams, remains),
           LATERAL (
             SELECT w.word FROM search_words w
              WHERE w.account_key = $1 AND (${resembling})
              GROUP BY w.word, w.grams, w.remains
              ORDER BY w.remains && string_to_array(typed.remains, ' ') DESC,
                       word_similarity(typed.grams, w.grams) DESC, w.word
              LIMIT ${PROPOSED}
           ) AS near`;
}

/** All words at an edit distance of one, and those that contain the typed word. */
const near = `w.remains && string_to_array(typed.remains, ' ') OR w.grams LIKE '%' || typed.grams || '%'`;
/** Those, and words similar by trigrams. */
const far = `${near} OR w.grams % typed.grams OR typed.grams <% w.grams`;

function valuesOfWords(typed: readonly string[]): unknown[] {
  return [typed, typed.map(gramsOf), typed.map((word) => remainsOf(word).join(' '))];
}

/** A stored `word` that may be meant by a `typed` one. */
export interface Proposal {
  readonly typed: string;
  readonly word: string;
}

export const PROPOSE_FAR_WORDS = { name: 'search-propose-far-words', text: selectProposals(2, far) };

/** Candidates for typed words that are misspelt by more than one letter; at most 60 for each. */
export async function proposeFarWords(
  pool: pg.Pool,
  accountKey: string,
  typed: readonly string[],
): Promise<readonly Proposal[]> {
  const { rows } = await pool.query<Proposal>({ ...PROPOSE_FAR_WORDS, values: [accountKey, ...valuesOfWords(typed)] });
  return rows;
}

/** Exact matches rank before similar ones. */
const typedScore = `0.3 + 0.7 * ${scoreOf(2)}`;

function selectItems(found: '$2' | '$10', score: string): string {
  return `
    SELECT e.app_id AS "appId", e.id, e.title, e.kind, e.url, ${score} AS score
      FROM search_entries e
      JOIN installed_apps i ON i.id = e.installation_id
     WHERE e.account_key = $1 AND e.document @@ ${found}::tsquery
       AND ($7::text IS NULL OR e.app_id = $7) AND ($8::text IS NULL OR e.kind = $8)
     ORDER BY score DESC, e.app_id, e.id
     LIMIT $9`;
}

/** Exact matches and, when they do not fill the page, near words: one statement, as the round trip costs most. */
export const FIND_TYPED_ITEMS = {
  name: 'search-typed-items',
  text: `
    WITH items AS MATERIALIZED (${selectItems('$2', typedScore)})
    SELECT (SELECT coalesce(json_agg(items ORDER BY score DESC, "appId", id), '[]') FROM items) AS items,
           (SELECT coalesce(json_agg(proposed), '[]') FROM (${selectProposals(10, near)}) AS proposed
             WHERE (SELECT count(*) FROM items) < $9) AS near`,
};

export interface TypedItems {
  readonly items: FoundItem[];
  readonly near: readonly Proposal[];
}

/**
 * Entries that match what was typed, best first, at most `page.limit`; and, if they do not fill the page, near words.
 *
 * @param words the typed words for which near ones are looked up
 */
export async function findTypedItems(
  pool: pg.Pool,
  scope: SearchScope,
  { matching, words }: { readonly matching: Matching; readonly words: readonly string[] },
  page: SearchPage,
): Promise<TypedItems> {
  const values = [...valuesOf(scope, matching, page), ...valuesOfWords(words)];
  const { rows } = await pool.query<TypedItems>({ ...FIND_TYPED_ITEMS, values });
  return rows[0] ?? { items: [], near: [] };
}

export const FIND_SIMILAR_ITEMS = {
  name: 'search-similar-items',
  text: selectItems('$10', `CASE WHEN e.document @@ $2::tsquery THEN ${typedScore} ELSE 0.3 * ${scoreOf(10)} END`),
};

/**
 * Entries that match what was typed or similar words, best first, at most `page.limit`.
 *
 * @param similar matches everything that `typed` does, and similar words
 */
export async function findSimilarItems(
  pool: pg.Pool,
  scope: SearchScope,
  typed: Matching,
  similar: Matching,
  page: SearchPage,
): Promise<FoundItem[]> {
  const values = [...valuesOf(scope, typed, page), similar.found, similar.exact, similar.title, similar.exactTitle];
  const { rows } = await pool.query<FoundItem>({ ...FIND_SIMILAR_ITEMS, values });
  return rows;
}

function valuesOf(
  { accountKey, appId, kind }: SearchScope,
  { found, exact, title, exactTitle }: Matching,
  { typedLength, limit }: SearchPage,
): unknown[] {
  return [accountKey, found, exact, title, exactTitle, typedLength, appId, kind, limit];
}

/**
 * A match of the external index is shown only if its entry exists here, belongs to this account and to an installed
 * app, and is within the scope. Among equals, a title of which the query covers more comes first.
 */
const FIND_BY_KEYS = {
  name: 'search-items-by-keys',
  text: `
    SELECT e.app_id AS "appId", e.id, e.title, e.kind, e.url,
           (given.score + 0.105 * floor(4 * least(1, $5::float8 / char_length(e.title))) / 4)::float8 AS score
      FROM unnest($2::text[], $3::text[], $4::float8[]) AS given (installation_id, id, score)
      JOIN search_entries e ON e.installation_id = given.installation_id AND e.id = given.id
      JOIN installed_apps i ON i.id = e.installation_id
     WHERE e.account_key = $1 AND ($6::text IS NULL OR e.app_id = $6) AND ($7::text IS NULL OR e.kind = $7)
       AND ($8::tsquery IS NULL OR e.document @@ $8)
     ORDER BY score DESC, e.app_id, e.id
     LIMIT $9`,
};

export interface FoundElsewhere {
  readonly keys: readonly FoundKey[];
  /** A tsquery of the words that must follow each other; `null` when there are none. */
  readonly ordered: string | null;
}

/** The entries behind the keys that may be shown, best first, at most `limit`. */
export async function findByKeys(
  pool: pg.Pool,
  { accountKey, appId, kind }: SearchScope,
  { keys, ordered }: FoundElsewhere,
  { typedLength, limit }: SearchPage,
): Promise<FoundItem[]> {
  const [installations, ids] = [keys.map(({ installationId }) => installationId), keys.map(({ id }) => id)];
  const scores = keys.map(({ score }) => score);
  const values = [accountKey, installations, ids, scores, typedLength, appId, kind, ordered, limit];
  const { rows } = await pool.query<FoundItem>({ ...FIND_BY_KEYS, values });
  return rows;
}
