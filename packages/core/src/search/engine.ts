// What finds entries: PostgreSQL always can, another engine may take the questions off it.
import type { SearchQuery } from './search-query.ts';

/** What of an account is searched. */
export interface SearchScope {
  readonly accountKey: string;
  readonly appId: string | null;
  readonly kind: string | null;
}

export interface FoundItem {
  readonly appId: string;
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  /** 0 to 1. */
  readonly score: number;
}

export interface SearchPage {
  /** Characters that were typed: a title that is hardly longer is the better hit. */
  readonly typedLength: number;
  /** Items at most. */
  readonly limit: number;
}

export interface SearchEngine {
  /** Entries of the scope alone, best first, as they were at one moment. */
  find(scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[]>;
}
