// Installed apps whose name or summary matches a search: few enough to be read and compared as they are.
import type { SearchResult } from '@platform/contract';
import { LRUCache } from 'lru-cache';
import type { SummaryRow } from '../installations/face.ts';
import { iconOf } from '../installations/face.ts';
import type { SearchScope } from './engine.ts';
import type { InstalledNames } from './installed-names.ts';
import { scoreOfDocument } from './match-document.ts';
import { type SearchDocument, searchDocumentOf } from './search-document.ts';
import type { SearchQuery } from './search-query.ts';
import { type SimilarWords, similarWords } from './similar-words.ts';

/** Results that are given. */
const RESULTS = 20;
/** Most accounts have the same apps, and their names hardly change. */
const documents = new LRUCache<string, SearchDocument>({ max: 2_000 });

export async function matchingApps(
  names: InstalledNames,
  { accountKey, appId }: SearchScope,
  query: SearchQuery,
  typedLength: number,
): Promise<SearchResult['apps']> {
  const installed = await names.of(accountKey);
  const apps = installed
    .filter((app) => appId === null || app.app_id === appId)
    .map((app) => ({ app, document: documentOf(app) }));
  const words = [...new Set(apps.flatMap(({ document }) => document.words))];
  const typed = query.comparable;
  const similar = similarWords(
    typed,
    typed.flatMap(({ word }) => words.map((other) => ({ typed: word, word: other }))),
    1,
  );
  const exactly: SimilarWords = new Map();
  return apps
    .flatMap(({ app, document }) => {
      const found = (meant: SimilarWords) =>
        scoreOfDocument(document, app.name, { query, similar: meant, typedLength });
      // What was typed comes before what only resembles it.
      const score = found(exactly);
      const further = score === null && similar.size > 0 ? found(similar) : null;
      if (score !== null) return [{ app, score: 1 + score }];
      return further === null ? [] : [{ app, score: further }];
    })
    .sort((one, other) => other.score - one.score)
    .slice(0, RESULTS)
    .map(({ app }) => ({ appId: app.app_id, name: app.name, icon: iconOf(app) }));
}

function documentOf({ name, summary }: SummaryRow): SearchDocument {
  const key = `${name}\u0000${summary}`;
  const known = documents.get(key);
  if (known !== undefined) return known;
  const document = searchDocumentOf({ title: name, text: summary, url: '/' });
  documents.set(key, document);
  return document;
}
