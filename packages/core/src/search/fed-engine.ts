// Searches in an external index and lets PostgreSQL decide which matches are shown. While the index is being filled,
// lacks changes of the account or is unreachable, PostgreSQL answers alone.
import type { CoreContext } from '../context.ts';
import { orderIn } from './condition.ts';
import {
  EngineError,
  type FedIndex,
  type FoundItem,
  type SearchEngine,
  type SearchPage,
  type SearchScope,
} from './engine.ts';
import { readyIndex } from './feed-queries.ts';
import { findByKeys } from './queries.ts';
import type { SearchQuery } from './search-query.ts';
import { tsqueryText } from './tsquery-text.ts';
import { markOf } from './word-mark.ts';

/** Matches requested per item of the page: some may be deleted entries, or hold the words in another order. */
const SPARE = 3;
/** How long the index is not queried after a failure. */
const PAUSE_MILLISECONDS = 5_000;

export interface FedEngineOptions {
  readonly index: FedIndex;
  readonly own: SearchEngine;
}

export class FedEngine implements SearchEngine {
  readonly #context: Pick<CoreContext, 'database' | 'pool' | 'clock' | 'log' | 'count'>;
  readonly #options: FedEngineOptions;
  #pausedUntil = 0;

  constructor(context: Pick<CoreContext, 'database' | 'pool' | 'clock' | 'log' | 'count'>, options: FedEngineOptions) {
    this.#context = context;
    this.#options = options;
  }

  async find(scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[]> {
    return (await this.#elsewhere(scope, query, page)) ?? this.#options.own.find(scope, query, page);
  }

  /** @returns `null` when PostgreSQL must answer */
  async #elsewhere(scope: SearchScope, query: SearchQuery, page: SearchPage): Promise<FoundItem[] | null> {
    const { database, pool, clock, log } = this.#context;
    const left = this.#pausedUntil - clock().getTime();
    // A longer pause began under a clock that was set back since.
    if (left > 0 && left <= PAUSE_MILLISECONDS) return null;
    const { index } = this.#options;
    const ready = await readyIndex(database, scope.accountKey);
    if (ready?.address !== index.address) return null;
    try {
      const keys = await index.find(ready.index_name, scope, query, page.limit * SPARE);
      if (keys.length === 0) return [];
      const order = orderIn(query.condition('beginning'));
      const ordered =
        order === null ? null : tsqueryText(order, { mark: markOf(scope.accountKey), similar: new Map() });
      const items = await findByKeys(pool, scope, { keys, ordered }, page);
      // Every match was stale: the entries changed while the index answered.
      return items.length === 0 ? null : items;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#pausedUntil = clock().getTime() + PAUSE_MILLISECONDS;
      this.#context.count('platform_core_search_failed_total', {});
      log.warn({ reason: error.message }, 'OpenSearch did not answer a search; PostgreSQL does');
      return null;
    }
  }
}
