// The files that an export of an account consists of: JSON in the shape of the public routes, and packages as uploaded.
import type { Readable } from 'node:stream';

export interface AccountOfFiles {
  readonly accountKey: string;
  readonly accountName: string;
}

export interface AccountFile {
  /** In the archive: names of the platform's own making, or that it made harmless (`content/export/archived-names.ts`), joined by `/`. */
  readonly path: string;
  readonly content: Buffer | { readonly bytes: number; readonly open: () => Readable };
}

/** What else an archive may hold. */
export type AccountEntry =
  | (AccountFile & { readonly modified?: Date; readonly executable?: boolean })
  | { readonly path: string; readonly kind: 'folder'; readonly modified: Date }
  /** Leads to another place of the archive, as a path from its own folder. */
  | { readonly path: string; readonly kind: 'link'; readonly target: string }
  /** Another name of the file at the path `of`, which came before. */
  | { readonly path: string; readonly kind: 'name'; readonly of: string };

/** A file of lines is split at this many bytes, since an archive says the size of a file before its content. */
const PART_BYTES = 1024 * 1024;

export function jsonFile(path: string, value: unknown): AccountFile {
  return { path, content: Buffer.from(`${JSON.stringify(value, null, 2)}\n`) };
}

/** `<name>-0001.jsonl`, `<name>-0002.jsonl`, … with an item on each line; none when there are no items. */
export async function* jsonLines(
  name: string,
  items: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<AccountFile> {
  let lines: Buffer[] = [];
  let bytes = 0;
  let parts = 0;
  const part = (): AccountFile => {
    parts += 1;
    const content = Buffer.concat(lines);
    lines = [];
    bytes = 0;
    return { path: `${name}-${String(parts).padStart(4, '0')}.jsonl`, content };
  };
  for await (const item of items) {
    const line = Buffer.from(`${JSON.stringify(item)}\n`);
    if (bytes > 0 && bytes + line.length > PART_BYTES) yield part();
    lines.push(line);
    bytes += line.length;
  }
  if (bytes > 0) yield part();
}

/** The items of a list that is read by position: `after` the last item read, until none comes. */
export async function* everyRow<Row>(read: (last: Row | undefined) => Promise<readonly Row[]>): AsyncGenerator<Row> {
  let rows: readonly Row[] = await read(undefined);
  while (rows.length > 0) {
    yield* rows;
    rows = await read(rows.at(-1));
  }
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** The items of a paged list, a page at a time. */
export async function* everyItem<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let cursor: string | null | undefined;
  do {
    const page: Page<Item> = await read(cursor ?? undefined);
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** The items of a list that is read page by page, each from `next` of the one before. */
export async function* everyPage<Item>(
  read: (at: unknown) => Promise<{ readonly items: readonly Item[]; readonly next: unknown }>,
): AsyncGenerator<Item> {
  let at: unknown;
  do {
    const page = await read(at);
    yield* page.items;
    at = page.next;
  } while (at !== null);
}
