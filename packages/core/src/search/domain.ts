// Search as a part of core: the indexes of apps, and an index elsewhere that follows them where there is one.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import type { Searching } from './open-searching.ts';
import { countWaiting } from './outbox-queries.ts';
import { PreparePool } from './prepare-pool.ts';
import { removeIndex } from './remove-index.ts';
import { type SearchRoute, searchRoutes } from './routes.ts';

export function searchDomain(context: CoreContext, { engine, workers }: Searching): Domain<SearchRoute> {
  const prepare = new PreparePool();
  return {
    handlers: searchRoutes(context, { engine, prepare }),
    workers: [...workers, prepare],
    gauges: [{ name: 'platform_core_search_waiting', read: () => countWaiting(context.database) }],
    installationEnded: removeIndex,
  };
}
