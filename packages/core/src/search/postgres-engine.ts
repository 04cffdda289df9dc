// The engine that is always there: what the words match exactly first, then words that hold or resemble them.
import type pg from 'pg';
import type { FairPool } from '../database/fair-pool.ts';
import { type DatabaseOptions, openPool } from '../database/open-database.ts';
import type { FoundItem, SearchEngine, SearchPage, SearchScope } from './engine.ts';
import { matchingOf } from './matching.ts';
import { findSimilarItems, findTypedItems, type Proposal, proposeFarWords } from './queries.ts';
import type { SearchQuery } from './search-query.ts';
import { similarWords } from './similar-words.ts';
import { markOf } from './word-mark.ts';

/**
 * A separate pool, so that slow searches delay only searches. The plan does not depend on the parameters, and planning
 * takes longer than most searches, so a generic plan is used.
 */
export function openSearchPool(options: Omit<DatabaseOptions, 'connections'>): FairPool {
  return openPool({ ...options, connections: CONNECTIONS }, 'SET plan_cache_mode = force_generic_plan');
}

const CONNECTIONS = 4;

/** @param pool of `openSearchPool`: with other connections the answers are the same, and take longer */
export function postgresEngine(pool: pg.Pool): SearchEngine {
  return { find: (scope, query, page) => find(pool, scope, query, page) };
}

/** Each answer is that of one statement, so that a replaced index shows as it was before or after, never mixed. */
async function find(pool: pg.Pool, scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[]> {
  const mark = markOf(scope.accountKey);
  const typed = query.comparable;
  const words = typed.map(({ word }) => word);
  const matching = matchingOf(query, mark);

  /** With words that differ by so many slips; `null` when there are none. */
  async function findSimilar(proposed: readonly Proposal[], slips: 1 | 2): Promise<FoundItem[] | null> {
    const similar = similarWords(typed, proposed, slips);
    return similar.size === 0 ? null : findSimilarItems(pool, scope, matching, matchingOf(query, mark, similar), page);
  }

  const { items, near } = await findTypedItems(pool, scope, { matching, words }, page);
  const found = (await findSimilar(near, 1)) ?? items;
  if (found.length > 0 || words.length === 0) return found;
  // With nothing to show otherwise: beginnings with a slip in them, and two slips, which are a guess.
  const far = await proposeFarWords(pool, scope.accountKey, words);
  for (const slips of [1, 2] as const) {
    const guessed = await findSimilar(far, slips);
    if (guessed !== null && guessed.length > 0) return guessed;
  }
  return [];
}
