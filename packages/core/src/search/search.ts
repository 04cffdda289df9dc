// Answers a search: apps of the account, and entries that an engine finds.
import type { RouteQuery, SearchResult } from '@platform/contract';
import { matchingApps } from './app-matches.ts';
import type { SearchEngine, SearchScope } from './engine.ts';
import type { InstalledNames } from './installed-names.ts';
import { SearchQuery } from './search-query.ts';

type SearchRequest = RouteQuery<'search.query'>;

export async function search(
  { engine, names }: { readonly engine: SearchEngine; readonly names: InstalledNames },
  accountKey: string,
  request: SearchRequest,
): Promise<SearchResult> {
  const query = new SearchQuery(request.q);
  if (query.empty) return { query: request.q, apps: [], items: [] };
  const scope: SearchScope = { accountKey, appId: request.app ?? null, kind: request.kind ?? null };
  const typedLength = request.q.length;
  const [apps, items] = await Promise.all([
    // A `kind` filter excludes apps, which have no kind.
    scope.kind === null ? matchingApps(names, scope, query, typedLength) : [],
    engine.find(scope, query, { typedLength, limit: request.limit }),
  ]);
  return { query: request.q, apps, items };
}
