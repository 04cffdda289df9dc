// What finds entries: PostgreSQL always can, an index elsewhere may take the questions off it.
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

/** An entry that an index elsewhere found; PostgreSQL is asked what it is, and whether it may be shown. */
export interface FoundKey {
  readonly installationId: string;
  readonly id: string;
  /** 0 to 1. */
  readonly score: number;
}

/** What is told of an entry: where it belongs, and its words as they are indexed. `null` when it is gone. */
export interface ToldEntry {
  readonly installationId: string;
  readonly id: string;
  /** Grows with every change of the entry: an index keeps the newest, in whatever order it hears. */
  readonly version: number;
  readonly words: {
    readonly accountKey: string;
    readonly appId: string;
    readonly kind: string;
    readonly title: readonly string[];
    readonly other: readonly string[];
  } | null;
}

/** An index outside PostgreSQL. Everything it holds can be told again. */
export interface FedIndex {
  /** Where it is, without credentials. */
  readonly address: string;
  /** Entries that match, best first: `most` at most. @throws EngineError */
  find(index: string, scope: SearchScope, query: SearchQuery, most: number): Promise<FoundKey[]>;
  /** Makes an empty index, unless it is there. @throws EngineError */
  create(index: string): Promise<void>;
  /** @throws EngineError */
  exists(index: string): Promise<boolean>;
  /** @throws EngineError */
  drop(index: string): Promise<void>;
  /** Searches find it when this resolves. @throws EngineError when any of it was not taken */
  tell(index: string, entries: readonly ToldEntry[]): Promise<void>;
  /** Ends requests under way. Called once. */
  close(): Promise<void>;
}

/** An index elsewhere that is out of reach, or refuses. Says nothing of what was asked. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
