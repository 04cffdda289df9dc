// Search entries and queries (specification 2.5, 4.7; contract 4).
import * as z from 'zod';
import { limits } from './limits.ts';
import { appId } from './primitives.ts';

/** App-local path with an optional query: no scheme, no `//`, no backslash, no fragment, no control bytes. */
export const appLocalUrl = z
  .string()
  .min(1)
  .max(limits.searchUrl.value)
  .regex(/^(?:\/(?!\/)|\?)[^\\#\p{Cc}\s]*$/u, 'must be a path of the app such as /notes/1 or ?note=1');

const utf8Bytes = new TextEncoder();

/** Without control bytes: NUL is none that a database takes. */
export const searchEntryId = z
  .string()
  .min(1)
  .max(limits.searchId.value)
  .regex(/^\P{Cc}*$/u);

export const searchEntry = z.strictObject({
  id: searchEntryId,
  title: z
    .string()
    .trim()
    .min(1)
    .max(limits.searchTitle.value)
    .regex(/^\P{Cc}*$/u),
  kind: z
    .string()
    .min(1)
    .max(limits.searchKind.value)
    .regex(/^\P{Cc}*$/u)
    .default('item'),
  url: appLocalUrl,
  /** Indexed, never returned. */
  text: z
    .string()
    .refine((value) => !value.includes('\u0000'), 'must not hold NUL')
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
export const searchUpsertBody = z.strictObject({
  entries: z.array(searchEntry).min(1).max(limits.searchUpsert.value).refine(distinctIds, 'must have distinct ids'),
});
export const indexedAnswer = z.strictObject({ indexed: z.int() });

export const searchQuery = z.strictObject({
  q: z.string().trim().min(1).max(limits.searchQuery.value),
  limit: z.coerce.number().int().min(1).max(limits.pageMaximum.value).default(20),
  kind: z
    .string()
    .max(limits.searchKind.value)
    .regex(/^\P{Cc}*$/u)
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
