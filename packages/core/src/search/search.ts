// Answers a search: what the words match exactly first, then words that hold or resemble them.
import type { RouteQuery, SearchResult } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { matchingApps } from './app-matches.ts';
import { type FoundItem, findItems, proposeWords, type SearchScope } from './queries.ts';
import { matchingOf, SearchQuery } from './search-query.ts';
import { similarWords } from './similar-words.ts';

/** Typed words for which similar ones are looked up; each costs a look into the index. */
const COMPARED = 8;

type SearchRequest = RouteQuery<'search.query'>;

export async function search(context: CoreContext, accountKey: string, request: SearchRequest): Promise<SearchResult> {
  const query = new SearchQuery(request.q);
  if (query.empty) return { query: request.q, apps: [], items: [] };
  const scope: SearchScope = { accountKey, appId: request.app ?? null, kind: request.kind ?? null };
  const [apps, items] = await Promise.all([
    // Apps have no kind: who asks for one does not mean them.
    scope.kind === null ? matchingApps(context, scope, query, request.q.length) : [],
    searchItems(context, scope, query, request),
  ]);
  return { query: request.q, apps, items };
}

async function searchItems(
  context: CoreContext,
  scope: SearchScope,
  query: SearchQuery,
  { q, limit }: SearchRequest,
): Promise<FoundItem[]> {
  const page = { typedLength: q.length, limit };
  const items = (await findItems(context.pool, scope, matchingOf(query), page)).map(asTyped);
  if (items.length === limit) return items;
  const typed = query.comparable.slice(0, COMPARED);
  const words = typed.map(({ word }) => word);
  const proposed = await proposeWords(context.pool, scope.accountKey, words);
  for (const most of [1, 2]) {
    // Two slips are a guess: only when there is nothing to show otherwise.
    if (most === 2 && items.length > 0) break;
    const similar = similarWords(typed, proposed, most);
    if (similar.size === 0) continue;
    const known = new Set(items.map(keyOf));
    const further = await findItems(context.pool, scope, matchingOf(query, similar), page);
    items.push(...further.filter((item) => !known.has(keyOf(item))).map(asSimilar));
  }
  return items.slice(0, limit);
}

/** What was typed comes before what only resembles it. */
function asTyped(item: FoundItem): FoundItem {
  return { ...item, score: 0.3 + 0.7 * item.score };
}

function asSimilar(item: FoundItem): FoundItem {
  return { ...item, score: 0.3 * item.score };
}

function keyOf({ appId, id }: FoundItem): string {
  return `${appId}/${id}`;
}
