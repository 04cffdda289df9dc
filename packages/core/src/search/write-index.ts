// Writes the search index of an installation: each change as a whole or not at all, in batches that neither hold the
// event loop nor fill memory.
import { setImmediate } from 'node:timers/promises';
import { limits, refuse } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
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
import { digestOf, type Entry, isComparable, searchDocumentOf } from './search-document.ts';
import { tsvectorText } from './tsquery-text.ts';
import { markOf } from './word-mark.ts';

/** Characters of text in one batch: some milliseconds of work between two turns of the event loop. */
const BATCH = 64 * 1024;
const BATCH_ENTRIES = 500;
/**
 * Words counted together before they are written. As many as there are in most indexes: each row is written once then,
 * and not at all when a replacement leaves its count as it was. Its indexes are what writing costs most.
 */
const BATCH_WORDS = 100_000;
/** Distinct words of an installation that are compared with misspelt ones. */
const MOST_WORDS = 200_000;

/** Makes `entries` the whole index. What did not change is left as it is. */
export async function replaceIndex(
  context: Pick<CoreContext, 'database' | 'at'>,
  owner: IndexOwner,
  entries: readonly Entry[],
): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const known = await entryDigests(trx, owner.installationId);
    const kept = new Set(entries.map(({ id }) => id));
    const gone = [...known.keys()].filter((id) => !kept.has(id));
    const writer = new IndexWriter(trx, owner, known);
    await writer.remove(gone);
    await writer.write(entries);
  });
}

/** @throws RefusalError `invalid_request` when the index would hold more than `limits.searchEntries` */
export async function upsertIndex(
  context: Pick<CoreContext, 'database' | 'at'>,
  owner: IndexOwner,
  entries: readonly Entry[],
): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const ids = entries.map(({ id }) => id);
    const known = await entryDigests(trx, owner.installationId, ids);
    const total = (await countEntries(trx, owner.installationId)) + ids.length - known.size;
    if (total > limits.searchEntries.value)
      throw refuse('invalid_request', `The index may hold at most ${limits.searchEntries.value} entries.`);
    await new IndexWriter(trx, owner, known).write(entries);
  });
}

/** @param ids entries that are not there are removed already */
export async function removeEntries(
  context: Pick<CoreContext, 'database' | 'at'>,
  owner: IndexOwner,
  ids: readonly string[],
): Promise<void> {
  await inIndex(context, owner, async (trx) => {
    const writer = new IndexWriter(trx, owner, new Map());
    await writer.remove(ids);
    await writer.write([]);
  });
}

export async function clearIndex(context: Pick<CoreContext, 'database' | 'at'>, owner: IndexOwner): Promise<void> {
  await inIndex(context, owner, (trx) => deleteIndex(trx, owner.installationId));
}

async function inIndex(
  { database, at }: Pick<CoreContext, 'database' | 'at'>,
  { installationId }: IndexOwner,
  work: (trx: Transaction<DatabaseSchema>) => Promise<void>,
): Promise<void> {
  await database.transaction().execute(async (trx) => {
    // Removed since the request was admitted: its credential has ended with it.
    if (!(await lockIndex(trx, installationId))) throw refuse('unauthenticated');
    await work(trx);
    await at('search.write.committing');
  });
  await at('search.write.committed');
}

/** Writes the entries that differ from what is known of them. */
class IndexWriter {
  readonly #trx: Transaction<DatabaseSchema>;
  readonly #owner: IndexOwner;
  readonly #mark: string;
  readonly #known: ReadonlyMap<string, Buffer>;
  #batch: IndexedEntry[] = [];
  #words = new Map<string, number>();
  /** The batch that is on its way to the database, while the next one is made. */
  #storing: Promise<void> = Promise.resolve();

  constructor(trx: Transaction<DatabaseSchema>, owner: IndexOwner, known: ReadonlyMap<string, Buffer>) {
    this.#trx = trx;
    this.#owner = owner;
    this.#mark = markOf(owner.accountKey);
    this.#known = known;
  }

  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += BATCH_ENTRIES) {
      this.#forget(await deleteEntries(this.#trx, this.#owner.installationId, ids.slice(at, at + BATCH_ENTRIES)));
    }
  }

  /** Called last. */
  async write(entries: readonly Entry[]): Promise<void> {
    let size = 0;
    for (const entry of entries) {
      const digest = digestOf(entry);
      if (this.#known.get(entry.id)?.equals(digest) !== true) this.#take(entry, digest);
      size += entry.title.length + entry.text.length;
      if (size < BATCH && this.#batch.length < BATCH_ENTRIES) continue;
      await this.#flush();
      await setImmediate();
      size = 0;
    }
    await this.#flush();
    await this.#storing;
    await this.#flushWords();
  }

  #take(entry: Entry, digest: Buffer): void {
    const { id, title, kind, url } = entry;
    const document = searchDocumentOf(entry);
    this.#batch.push({ id, title, kind, url, digest, vector: tsvectorText(document, this.#mark) });
    for (const word of document.words) this.#count(word, 1);
  }

  /** Takes the words of entries that are gone out of the count. */
  #forget(lost: readonly LostLexeme[]): void {
    for (const { lexeme, entries } of lost) if (isComparable(lexeme)) this.#count(lexeme, -entries);
  }

  #count(word: string, entries: number): void {
    this.#words.set(word, (this.#words.get(word) ?? 0) + entries);
  }

  async #flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    await this.#storing;
    this.#storing = this.#store(batch);
    // Whoever waits for it next is told; until then nobody listens.
    this.#storing.catch(() => undefined);
  }

  async #store(batch: readonly IndexedEntry[]): Promise<void> {
    this.#forget(await upsertEntries(this.#trx, this.#owner, batch));
    if (this.#words.size >= BATCH_WORDS) await this.#flushWords();
  }

  async #flushWords(): Promise<void> {
    const changed = new Map([...this.#words].filter(([, entries]) => entries !== 0));
    this.#words = new Map();
    if (changed.size === 0) return;
    const room = MOST_WORDS - (await distinctWords(this.#trx, this.#owner.installationId));
    await countWords(this.#trx, this.#owner, changed, room);
  }
}
