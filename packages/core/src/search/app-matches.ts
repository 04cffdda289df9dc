// Installed apps whose name or summary matches a search: few enough to be read and compared as they are.
import type { SearchResult } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { iconOf } from '../installations/app-summary.ts';
import { listInstalled } from '../installations/prepared-queries.ts';
import type { SearchScope } from './engine.ts';
import { matchingOf } from './matching.ts';
import { rankDocuments } from './queries.ts';
import { searchDocumentOf } from './search-document.ts';
import type { SearchQuery } from './search-query.ts';
import { similarWords } from './similar-words.ts';

/** Installed apps that are looked at, and results that are given. */
const APPS = 1_000;
const RESULTS = 20;

export async function matchingApps(
  { pool }: CoreContext,
  { accountKey, appId }: SearchScope,
  query: SearchQuery,
  typedLength: number,
): Promise<SearchResult['apps']> {
  const installed = await listInstalled(pool, accountKey, { after: '', limit: APPS });
  const apps = installed.filter((app) => appId === null || app.app_id === appId);
  const documents = apps.map(({ app_id, name, summary }) => ({
    title: name,
    ...searchDocumentOf({ id: app_id, title: name, text: summary, kind: 'app', url: '/' }),
  }));
  const words = [...new Set(documents.flatMap((document) => document.words))];
  const typed = query.comparable;
  const proposed = typed.flatMap(({ word }) => words.map((other) => ({ typed: word, word: other })));
  const found = await rankDocuments(pool, documents, matchingOf(query), typedLength);
  const similar = similarWords(typed, proposed, 1);
  const further =
    similar.size === 0 ? [] : await rankDocuments(pool, documents, matchingOf(query, similar), typedLength);
  return [...new Set([...found, ...further])]
    .slice(0, RESULTS)
    .flatMap((index) => apps[index] ?? [])
    .map((app) => ({ appId: app.app_id, name: app.name, icon: iconOf(app) }));
}
