// The search engine interface: PostgreSQL always implements it, an external index may answer in its place.
import type { SearchQuery } from './search-query.ts';

/** Which entries are searched: those of an account, of one app or kind where given. */
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
  /** Characters in the query: a title that is hardly longer is the better match. */
  readonly typedLength: number;
  /** Items at most. */
  readonly limit: number;
}

export interface SearchEngine {
  /** Matching entries of the scope only, best first, from one snapshot. */
  find(scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[]>;
}

/** An entry that an external index found; PostgreSQL supplies its contents and decides whether it may be shown. */
export interface FoundKey {
  readonly installationId: string;
  readonly id: string;
  /** 0 to 1. */
  readonly score: number;
}

/** Payload sent to an external index: an entry's scope and its words as they are indexed; `null` after a deletion. */
export interface IndexUpdate {
  readonly installationId: string;
  readonly id: string;
  /** Grows with every change of the entry: the index keeps the newest, in whatever order updates arrive. */
  readonly version: number;
  readonly words: {
    readonly accountKey: string;
    readonly appId: string;
    readonly kind: string;
    readonly title: readonly string[];
    readonly other: readonly string[];
  } | null;
}

/** An index outside PostgreSQL. It can be rebuilt at any time from what PostgreSQL holds. */
export interface FedIndex {
  /** Its URL, without credentials. */
  readonly address: string;
  /** Entries that match, best first: `most` at most. @throws EngineError */
  find(index: string, scope: SearchScope, query: SearchQuery, most: number): Promise<FoundKey[]>;
  /** Makes an empty index, unless it is there. @throws EngineError */
  create(index: string): Promise<void>;
  /** @throws EngineError */
  exists(index: string): Promise<boolean>;
  /** @throws EngineError */
  drop(index: string): Promise<void>;
  /** Applies updates; searches see them once this resolves. @throws EngineError when the index did not accept all */
  update(index: string, entries: readonly IndexUpdate[]): Promise<void>;
  /** Ends requests under way. Called once. */
  close(): Promise<void>;
}

/** An external index is unreachable or refused the request. The message contains nothing of the request. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
