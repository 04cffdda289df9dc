// Pages of a list that is read as a whole, since there are never many of what it lists.
import type { CursorCodec } from './cursor.ts';

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface ListPage<Item> {
  readonly items: Item[];
  readonly nextCursor: string | null;
}

interface WholeList<Item> {
  /** As in `CursorCodec`. */
  readonly name: string;
  readonly items: readonly Item[];
  readonly idOf: (item: Item) => string;
}

/**
 * The page after the item that the cursor names, or after as many items as came before it if it is gone.
 *
 * @throws RefusalError `invalid_cursor`
 */
export function listPage<Item>(
  { cursors }: { readonly cursors: CursorCodec },
  { limit, cursor }: PageQuery,
  { name, items, idOf }: WholeList<Item>,
): ListPage<Item> {
  const start = cursor === undefined ? 0 : startAfter(cursors.decode(name, cursor) as Position);
  const page = items.slice(start, start + limit);
  const last = page.at(-1);
  const end = start + page.length;
  if (last === undefined || end === items.length) return { items: page, nextCursor: null };
  return { items: page, nextCursor: cursors.encode(name, [end, idOf(last)] satisfies Position) };

  function startAfter([end, id]: Position): number {
    const at = items.findIndex((item) => idOf(item) === id);
    return at === -1 ? end : at + 1;
  }
}

/** Items up to the end of a page, and the id of the last one. */
type Position = readonly [end: number, id: string];
