// The search domain: the indexes of apps, and the external index that mirrors them where one is configured.
import type { CoreContext } from '../context.ts';
import type { Domain } from '../domain.ts';
import { searchFiles } from './account-files.ts';
import { countEntriesOf } from './count-queries.ts';
import type { Searching } from './open-searching.ts';
import { countPending } from './outbox-queries.ts';
import { PreparePool } from './prepare-pool.ts';
import { removeIndex } from './remove-index.ts';
import { type SearchRoute, searchRoutes } from './routes.ts';
import { searchTools } from './tools.ts';

export function searchDomain(context: CoreContext, { engine, workers }: Searching): Domain<SearchRoute> {
  const prepare = new PreparePool();
  return {
    handlers: searchRoutes(context, { engine, prepare }),
    workers: [...workers, prepare],
    tools: searchTools,
    opens: {
      'search.index': async ({ installationId }) => [await countEntriesOf(context.database, installationId)],
    },
    gauges: [{ name: 'platform_core_search_waiting', read: () => countPending(context.database) }],
    installationEnded: removeIndex,
    dataDeleted: removeIndex,
    filesOf: ({ accountKey }) => searchFiles(context, accountKey),
  };
}
