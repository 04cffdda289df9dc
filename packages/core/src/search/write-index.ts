// Writes the search index of an installation: each change as a whole or not at all, in batches that do not fill memory,
// and whose words are made beside the thread that answers requests.
import { limits, refuse } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import type { StreamedItems } from '../http/streamed-items.ts';
import {
  countEntries,
  countWords,
  deleteEntries,
  deleteIndex,
  distinctWords,
  entryDigests,
  type IndexedEntry,
  type IndexOwner,
  type LostLexeme,
  lockIndex,
  upsertEntries,
} from './index-queries.ts';
import type { Prepare, PreparedWords } from './prepare-entries.ts';
import { type Entry, isComparable } from './search-document.ts';
import { markOf } from './word-mark.ts';

/** Characters of text in one batch: some ten milliseconds of work. */
const BATCH = 64 * 1024;
const BATCH_ENTRIES = 500;
/** Words that are prepared at a time. */
const WORDS_PIECE = 5_000;
/**
 * Words counted together before they are written. As many as there are in most indexes: each row is written once then,
 * and not at all when a replacement leaves its count as it was. Its indexes are what writing costs most.
 */
const BATCH_WORDS = 100_000;
/** Distinct words of an installation that are compared with misspelt ones. */
const MOST_WORDS = 200_000;

/** `over` ends a change that is under way: nothing of it remains then. */
type IndexContext = Pick<CoreContext, 'database' | 'at'> & { readonly over: AbortSignal };
type WriteContext = IndexContext & { readonly prepare: Prepare };

/** Of PostgreSQL, for a statement that took longer than the database allows. */
const QUERY_CANCELED = '57014';

export function tooSlow(): Error {
  const detail = `The change took longer than ${limits.searchWriteSeconds.value} s. Send fewer entries at a time, or shorter ones.`;
  return refuse('unavailable', detail);
}

/** Entries to be written, which need not be held at once: `keys` are their ids. */
export type NewEntries = Pick<StreamedItems<Entry>, 'keys' | 'items'>;

/** Makes `entries` the whole index. What did not change is left as it is. */
export async function replaceIndex(context: WriteContext, owner: IndexOwner, entries: NewEntries): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const known = await entryDigests(trx, owner.installationId);
    const kept = new Set(entries.keys);
    const gone = [...known.keys()].filter((id) => !kept.has(id));
    const writer = new IndexWriter(trx, owner, { ...context, known });
    await writer.remove(gone);
    await writer.write(entries.items());
  });
}

/** @throws RefusalError `invalid_request` when the index would hold more than `limits.searchEntries` */
export async function upsertIndex(context: WriteContext, owner: IndexOwner, entries: NewEntries): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const ids = entries.keys;
    const known = await entryDigests(trx, owner.installationId, ids);
    const total = (await countEntries(trx, owner.installationId)) + ids.length - known.size;
    if (total > limits.searchEntries.value)
      throw refuse('invalid_request', `The index may hold at most ${limits.searchEntries.value} entries.`);
    await new IndexWriter(trx, owner, { ...context, known }).write(entries.items());
  });
}

/** @param ids entries that are not there are removed already */
export async function removeEntries(context: WriteContext, owner: IndexOwner, ids: readonly string[]): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const writer = new IndexWriter(trx, owner, { ...context, known: new Map() });
    await writer.remove(ids);
    await writer.write([]);
  });
}

export async function clearIndex(context: IndexContext, owner: IndexOwner): Promise<void> {
  await inIndex(context, owner, (trx) => deleteIndex(trx, owner.installationId));
}

async function inIndex(
  { database, at, over }: IndexContext,
  { installationId }: IndexOwner,
  work: (trx: Transaction<DatabaseSchema>) => Promise<void>,
): Promise<void> {
  try {
    await database.transaction().execute(async (trx) => {
      // Removed since the request was admitted: its credential has ended with it.
      if (!(await lockIndex(trx, installationId))) throw refuse('unauthenticated');
      await work(trx);
      over.throwIfAborted();
      await at('search.write.committing');
    });
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === QUERY_CANCELED ? tooSlow() : error;
  }
  await at('search.write.committed');
}

/** Writes the entries that differ from what is known of them. */
class IndexWriter {
  readonly #trx: Transaction<DatabaseSchema>;
  readonly #owner: IndexOwner;
  readonly #mark: string;
  readonly #known: ReadonlyMap<string, Buffer>;
  readonly #prepare: Prepare;
  readonly #over: AbortSignal;
  #words = new Map<string, number>();
  /** The batch that is on its way to the database, while the next one is made. */
  #storing: Promise<void> = Promise.resolve();

  constructor(
    trx: Transaction<DatabaseSchema>,
    owner: IndexOwner,
    { known, prepare, over }: Omit<WriteContext, 'database' | 'at'> & { readonly known: ReadonlyMap<string, Buffer> },
  ) {
    this.#over = over;
    this.#trx = trx;
    this.#prepare = prepare;
    this.#owner = owner;
    this.#mark = markOf(owner.accountKey);
    this.#known = known;
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += BATCH_ENTRIES) {
      this.#over.throwIfAborted();
      this.#forget(await deleteEntries(this.#trx, this.#owner.installationId, ids.slice(at, at + BATCH_ENTRIES)));
    }
  }

  /** Called last. */
  async write(entries: Iterable<Entry> | AsyncIterable<Entry>): Promise<void> {
    for await (const batch of batchesOf(entries)) await this.#take(batch);
    await this.#storing;
    await this.#flushWords();
  }

  async #take(entries: readonly Entry[]): Promise<void> {
    this.#over.throwIfAborted();
    const known = entries.map((entry) => ({ entry, known: this.#known.get(entry.id) ?? null }));
    const prepared = await this.#prepare.entries({ kind: 'entries', mark: this.#mark, entries: known }, this.#over);
    const batch: IndexedEntry[] = [];
    for (const [place, { id, title, kind, url }] of entries.entries()) {
      const made = prepared[place];
      if (made == null) continue;
      batch.push({ id, title, kind, url, digest: Buffer.from(made.digest), vector: made.vector });
      for (const word of made.words) this.#count(word, 1);
    }
    await this.#storing;
    if (batch.length === 0) return;
    this.#storing = this.#store(batch);
    // The next await reports a failure; this keeps it from being an unhandled rejection until then.
    this.#storing.catch(() => undefined);
  }

  /** Subtracts the words of deleted entries. */
  #forget(lost: readonly LostLexeme[]): void {
    for (const { lexeme, entries } of lost) if (isComparable(lexeme)) this.#count(lexeme, -entries);
  }

  #count(word: string, entries: number): void {
    this.#words.set(word, (this.#words.get(word) ?? 0) + entries);
  }

  async #store(batch: readonly IndexedEntry[]): Promise<void> {
    this.#forget(await upsertEntries(this.#trx, this.#owner, batch));
    if (this.#words.size >= BATCH_WORDS) await this.#flushWords();
  }

  async #flushWords(): Promise<void> {
    const words = this.#words;
    this.#words = new Map();
    const pieces: PreparedWords[] = [];
    const counts: number[] = [];
    for (const piece of piecesOf(words)) {
      this.#over.throwIfAborted();
      pieces.push(await this.#prepare.words({ kind: 'words', words: piece.map(([word]) => word) }, this.#over));
      for (const [, entries] of piece) counts.push(entries);
    }
    if (pieces.length === 0) return;
    const room = MOST_WORDS - (await distinctWords(this.#trx, this.#owner.installationId));
    const all = (member: keyof PreparedWords) => `{${pieces.map((piece) => piece[member]).join(',')}}`;
    const changed = {
      words: all('words'),
      entries: `{${counts.join(',')}}`,
      grams: all('grams'),
      remains: all('remains'),
    };
    await countWords(this.#trx, this.#owner, changed, room);
  }
}

async function* batchesOf(entries: Iterable<Entry> | AsyncIterable<Entry>): AsyncGenerator<readonly Entry[]> {
  let batch: Entry[] = [];
  let size = 0;
  for await (const entry of entries) {
    batch.push(entry);
    size += entry.title.length + entry.text.length;
    if (size < BATCH && batch.length < BATCH_ENTRIES) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length > 0) yield batch;
}

/** The words whose count changed. */
function* piecesOf(words: ReadonlyMap<string, number>): Generator<readonly (readonly [string, number])[]> {
  let piece: [string, number][] = [];
  for (const counted of words) {
    if (counted[1] === 0) continue;
    piece.push(counted);
    if (piece.length < WORDS_PIECE) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
