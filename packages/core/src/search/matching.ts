// The tsqueries of one search: what is found, and what of it counts more.
import type { SearchQuery } from './search-query.ts';
import type { SimilarWords } from './similar-words.ts';
import { tsqueryText } from './tsquery-text.ts';

/** tsqueries in their text form. */
export interface Matching {
  readonly found: string;
  /** All words, the last as a whole word. */
  readonly exact: string;
  /** All words in the title, the last as a beginning. */
  readonly title: string;
  /** All words in the title, the last as a whole word. */
  readonly exactTitle: string;
}

/**
 * @param mark of the account that asks
 * @param similar words of its index that may stand for a typed one
 */
export function matchingOf(query: SearchQuery, mark: string, similar: SimilarWords = new Map()): Matching {
  const [beginning, whole] = [query.condition('beginning'), query.condition('whole')];
  return {
    found: tsqueryText(beginning, { mark, similar }),
    exact: tsqueryText(whole, { mark, similar }),
    title: tsqueryText(beginning, { mark, similar, title: true }),
    exactTitle: tsqueryText(whole, { mark, similar, title: true }),
  };
}
