// The engine that is always there: what the words match exactly first, then words that hold or resemble them.
import type pg from 'pg';
import type { FoundItem, SearchEngine, SearchPage, SearchScope } from './engine.ts';
import { matchingOf } from './matching.ts';
import { findItems, findSimilarItems, proposeWords } from './queries.ts';
import type { SearchQuery } from './search-query.ts';
import { similarWords } from './similar-words.ts';

/** Typed words for which similar ones are looked up; each costs a look into the index. */
const COMPARED = 8;

export function postgresEngine(pool: pg.Pool): SearchEngine {
  return { find: (scope, query, page) => find(pool, scope, query, page) };
}

/** Each answer is that of one statement, so that a replaced index shows as it was before or after, never mixed. */
async function find(pool: pg.Pool, scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[]> {
  const exactly = matchingOf(query);
  let items = await findItems(pool, scope, exactly, page);
  if (items.length === page.limit) return items;
  const typed = query.comparable.slice(0, COMPARED);
  const words = typed.map(({ word }) => word);
  const proposed = await proposeWords(pool, scope.accountKey, words);
  for (const most of [1, 2]) {
    // Two slips are a guess: only when there is nothing to show otherwise.
    if (most === 2 && items.length > 0) break;
    const similar = similarWords(typed, proposed, most);
    if (similar.size > 0) items = await findSimilarItems(pool, scope, exactly, matchingOf(query, similar), page);
  }
  return items;
}
