// Search entries and queries (specification 2.5, 4.7; contract 4).
import * as z from 'zod';
import { KiB, type Limits, type Metrics, MiB, type Routes } from '../domain.ts';
import { appId } from '../primitives.ts';
import { nothingHidden } from '../readable-names.ts';
import { readableLine, storable, visible } from '../text.ts';
import { common, json, ofApp } from './common.ts';

const limits = {
  searchEntries: { value: 10_000, unit: 'items', meaning: 'search entries of an installation' },
  searchUpsert: { value: 1_000, unit: 'items', meaning: 'search entries in one POST' },
  searchBody: { value: 32 * MiB, unit: 'bytes', meaning: 'body of a search index request' },
  searchId: { value: 128, unit: 'characters', meaning: 'id of a search entry' },
  searchTitle: { value: 256, unit: 'characters', meaning: 'title of a search entry' },
  searchKind: { value: 64, unit: 'characters', meaning: 'kind of a search entry' },
  searchUrl: { value: 1_024, unit: 'characters', meaning: 'url of a search entry' },
  searchText: { value: 16 * KiB, unit: 'bytes', meaning: 'search-only text of an entry' },
  searchIndexedText: {
    value: 16 * KiB,
    unit: 'characters',
    meaning: 'text of an entry that is indexed, counted once compatibility characters are written out; the rest is not',
  },
  searchIndexedLine: {
    value: 1_024,
    unit: 'characters',
    meaning: 'title of an entry, name or summary of an app, or url that is indexed, counted in the same way',
  },
  searchQuery: { value: 200, unit: 'characters', meaning: 'search query' },
  searchQueryWritten: {
    value: 400,
    unit: 'characters',
    meaning: 'search query that is looked for, once compatibility characters are written out; the rest is not',
  },
  searchQueryWords: { value: 32, unit: 'items', meaning: 'words of a search query that are looked for' },
  searchesPerAccount: { value: 1, unit: 'items', meaning: 'searches of one account that run at the same time' },
  searchesWaiting: {
    value: 8,
    unit: 'items',
    meaning: 'searches of one account that wait for their turn; one more is `concurrency_limited`',
  },
  searchWaitSeconds: {
    value: 5,
    unit: 'seconds',
    meaning: 'time that a search waits for its turn before it is `concurrency_limited`',
  },
  searchBodiesPerInstallation: {
    value: 2,
    unit: 'items',
    meaning: 'search index requests with a large body of one installation at the same time',
  },
  searchBodies: {
    value: 32,
    unit: 'items',
    meaning: 'search index requests with a large body of all installations at the same time',
  },
  searchBodiesPerAccount: {
    value: 6,
    unit: 'items',
    meaning: 'search index requests with a large body of one account at the same time',
  },
  searchWriteSeconds: {
    value: 45,
    unit: 'seconds',
    meaning:
      'time that one change of a search index may take; one that takes longer is `unavailable` and changes nothing',
  },
  searchBodyEntry: {
    value: 256 * KiB,
    unit: 'characters',
    meaning: 'one entry as it stands in the body of a search index request, without white space',
  },
  searchPageBody: {
    value: 2 * MiB,
    unit: 'bytes',
    meaning: 'JSON of the entries that a page puts into its index, of which there may be as many as in one addition',
  },
  searchWriteRate: { value: 600, unit: 'per minute', meaning: 'search index writes of one installation' },
} as const satisfies Limits;

const metrics = {
  platform_core_search_waiting: {
    type: 'gauge',
    labels: [],
    meaning: 'Pending updates of the OpenSearch index; 0 without OpenSearch.',
  },
  platform_core_search_failed_total: {
    type: 'counter',
    labels: [],
    meaning: 'Searches answered by PostgreSQL because OpenSearch failed.',
  },
} as const satisfies Metrics;

/** App-local path with an optional query: no scheme, no `//`, no backslash, no fragment, no control bytes. */
export const appLocalUrl = z
  .string()
  .min(1)
  .max(limits.searchUrl.value)
  .regex(/^(?:\/(?!\/)|\?)[^\\#\p{Cc}\p{Cs}\s]*$/u, 'must be an app-local path such as /notes/1 or ?note=1');

const utf8Bytes = new TextEncoder();

/** A segment of a path, so that `DELETE …/index/:entryId` reaches every entry. */
export const searchEntryId = z
  .string()
  .min(1)
  .max(limits.searchId.value)
  .regex(...readableLine)
  .regex(/^(?!\.{1,2}$)[^/\\]*$/, 'must contain no slash or backslash, and not be . or ..');

export const searchEntry = z.strictObject({
  id: searchEntryId,
  title: z
    .string()
    .trim()
    .min(1)
    .max(limits.searchTitle.value)
    .regex(...readableLine)
    .regex(...visible)
    .refine(...nothingHidden),
  kind: z
    .string()
    .min(1)
    .max(limits.searchKind.value)
    .regex(...readableLine)
    .default('item'),
  url: appLocalUrl,
  /** Indexed, never returned. */
  text: z
    .string()
    .refine(...storable)
    .refine((value) => utf8Bytes.encode(value).length <= limits.searchText.value, 'must be at most 16 KiB of UTF-8')
    .default(''),
});
export type SearchEntry = z.input<typeof searchEntry>;

function distinctIds(entries: readonly { readonly id: string }[]): boolean {
  return new Set(entries.map(({ id }) => id)).size === entries.length;
}

export const searchReplaceBody = z.strictObject({
  entries: z.array(searchEntry).max(limits.searchEntries.value).refine(distinctIds, 'must have distinct ids'),
});
/** A page has all of its entries at hand, and so no more of them. */
export const searchPageBody = z.strictObject({
  entries: z.array(searchEntry).max(limits.searchUpsert.value).refine(distinctIds, 'must have distinct ids'),
});
export const searchUpsertBody = z.strictObject({
  entries: z.array(searchEntry).min(1).max(limits.searchUpsert.value).refine(distinctIds, 'must have distinct ids'),
});

/** A large index is read entry by entry. */
function entriesBody<Schema extends z.ZodType>(
  schema: Schema,
  { fewest, most, bytes = limits.searchBody.value }: { fewest: number; most: number; bytes?: number },
) {
  const streams = { member: 'entries', item: searchEntry, fewest, most, key: 'id' } as const;
  return { ...json(schema, bytes), streams } as const;
}

export const indexedAnswer = z.strictObject({ indexed: z.int() });

export const searchQuery = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1)
    .max(limits.searchQuery.value)
    .refine(...storable),
  limit: z.coerce.number().int().min(1).max(common.limits.pageMaximum.value).default(20),
  kind: z
    .string()
    .max(limits.searchKind.value)
    .regex(...readableLine)
    .optional(),
  app: appId.optional(),
});

export const searchResult = z.strictObject({
  query: z.string(),
  /** Installed apps whose name or summary matches. */
  apps: z.array(z.strictObject({ appId, name: z.string(), icon: z.string().nullable() })),
  items: z.array(
    z.strictObject({ appId, id: z.string(), title: z.string(), kind: z.string(), url: z.string(), score: z.number() }),
  ),
});
export type SearchResult = z.infer<typeof searchResult>;

const routes = {
  'search.query': {
    method: 'GET',
    path: '/v1/search',
    summary: 'Search installed apps and what they indexed',
    callers: ['session'],
    query: searchQuery,
    answers: { 200: searchResult },
    rate: 'session',
  },
  'apps.searchIndex': {
    method: 'PUT',
    path: '/v1/apps/:appId/search-index',
    summary: "Replace the whole index of an app, for its page, with the app's own grant `search.index`",
    callers: ['session'],
    origin: 'shell',
    confirms: { nothing: 'what an app is found by gives nobody anything' },
    params: ofApp,
    body: entriesBody(searchPageBody, {
      fewest: 0,
      most: limits.searchUpsert.value,
      bytes: limits.searchPageBody.value,
    }),
    refuses: ['not_found', 'grant_missing'],
    answers: { 200: indexedAnswer },
    rate: 'session',
    fillsDatabase: true,
  },
  'services.search.replace': {
    method: 'PUT',
    path: '/v1/services/search/index',
    summary: "Replace the installation's whole index",
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    body: entriesBody(searchReplaceBody, { fewest: 0, most: limits.searchEntries.value }),
    answers: { 200: indexedAnswer },
    rate: 'searchWrite',
    fillsDatabase: true,
  },
  'services.search.upsert': {
    method: 'POST',
    path: '/v1/services/search/index',
    summary: 'Add or change entries',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    body: entriesBody(searchUpsertBody, { fewest: 1, most: limits.searchUpsert.value }),
    answers: { 200: indexedAnswer },
    rate: 'searchWrite',
    fillsDatabase: true,
  },
  'services.search.clear': {
    method: 'DELETE',
    path: '/v1/services/search/index',
    summary: 'Clear the index',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    answers: { 204: null },
    rate: 'searchWrite',
  },
  'services.search.remove': {
    method: 'DELETE',
    path: '/v1/services/search/index/:entryId',
    summary: 'Remove one entry',
    callers: ['installation'],
    grant: { id: 'search.index', resource: 'self' },
    params: z.strictObject({ entryId: searchEntryId }),
    answers: { 204: null },
    rate: 'searchWrite',
  },
} as const satisfies Routes;

export const search = { limits, metrics, routes } as const;

declare module '../bridge-calls.ts' {
  interface BridgeCalls {
    /** Only for the home screen, with `apps.launcher.register`: the answer shows what every app indexed. */
    'search.query': { params: { readonly q: string; readonly limit?: number }; result: SearchResult };
    /** Replaces what the person's search finds of this app: for pages without a backend. */
    'search.index': { params: { readonly entries: readonly SearchEntry[] }; result: { readonly indexed: number } };
    /**
     * For every app in front, after a press of a key in it: the search of the shell opens, empty, and the first half second chooses
     * nothing in it. The SDK calls it at Ctrl-K, or ⌘K, which the page did not use itself.
     */
    'search.open': { params: undefined; result: null };
  }
}
