// Chooses the search engine: PostgreSQL alone, or with an external index that this process feeds.
import type pg from 'pg';
import { LeasedWorker } from '../background/leased-worker.ts';
import type { CoreContext } from '../context.ts';
import type { Worker } from '../domain.ts';
import type { SearchEngine } from './engine.ts';
import { FedEngine } from './fed-engine.ts';
import { FeedWork } from './feed.ts';
import { giveUpFeed } from './manage-feed.ts';
import { postgresEngine } from './postgres-engine.ts';

/** What answers searches in this process, and what feeds it. */
export interface Searching {
  readonly engine: SearchEngine;
  /** Feeds the external index. */
  readonly workers: readonly Worker[];
}

/** @param pool of `openSearchPool` */
export async function openSearching(context: CoreContext, pool: pg.Pool): Promise<Searching> {
  const own = postgresEngine(pool);
  const { searchOpenSearch } = context.config;
  if (searchOpenSearch === null) {
    await giveUpFeed(context);
    return { engine: own, workers: [] };
  }
  // Loaded only where it is used: the client of OpenSearch is large.
  const { OpenSearchIndex } = await import('./opensearch/opensearch-index.ts');
  const index = new OpenSearchIndex(searchOpenSearch);
  return {
    engine: new FedEngine(context, { index, own }),
    workers: [new LeasedWorker(context, new FeedWork(context, index))],
  };
}
