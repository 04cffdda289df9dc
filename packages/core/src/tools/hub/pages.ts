// Pages of lists whose items have a key that orders them.

/** Of one page of a list. */
const PAGE_ITEMS = 200;
const PAGE_BYTES = 1_024 * 1_024;

export interface Page<Item> {
  readonly page: Item[];
  /** `nextCursor` where there are more. */
  readonly more: { readonly nextCursor?: string };
}

/**
 * @param items sorted by key
 * @param cursor the key of the last item of the page before
 */
export function pageOf<Item extends object>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  cursor: string | undefined,
): Page<Item> {
  const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString('utf8');
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (keyOf(item) <= after) continue;
    bytes += JSON.stringify(item).length;
    const last = page.at(-1);
    if (last !== undefined && (page.length >= PAGE_ITEMS || bytes > PAGE_BYTES))
      return { page, more: { nextCursor: Buffer.from(keyOf(last)).toString('base64url') } };
    page.push(item);
  }
  return { page, more: {} };
}
