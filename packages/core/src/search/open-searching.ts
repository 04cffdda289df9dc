// Chooses what finds entries: PostgreSQL alone, or with an index elsewhere that is fed from here.
import type pg from 'pg';
import type { CoreContext } from '../context.ts';
import type { SearchEngine } from './engine.ts';
import { FedEngine } from './fed-engine.ts';
import { SearchFeed } from './feed.ts';
import { giveUpFeed } from './manage-feed.ts';
import { postgresEngine } from './postgres-engine.ts';

export interface Searching {
  readonly engine: SearchEngine;
  /** Begins to tell an index elsewhere. */
  start(): void;
  stop(): Promise<void>;
}

export interface SearchingOptions {
  /** Of `openSearchPool`. */
  readonly pool: pg.Pool;
  /** Told of each search that an index elsewhere failed to answer. */
  readonly failed: () => void;
}

export async function openSearching(context: CoreContext, { pool, failed }: SearchingOptions): Promise<Searching> {
  const own = postgresEngine(pool);
  const { searchOpenSearch } = context.config;
  if (searchOpenSearch === null) {
    await giveUpFeed(context);
    return { engine: own, start: () => undefined, stop: () => Promise.resolve() };
  }
  // Loaded only where it is used: the client of OpenSearch is large.
  const { OpenSearchIndex } = await import('./opensearch/opensearch-index.ts');
  const index = new OpenSearchIndex(searchOpenSearch);
  const feed = new SearchFeed(context, index);
  return { engine: new FedEngine(context, { index, own, failed }), start: () => feed.start(), stop: () => feed.stop() };
}
