// The part of indexing that takes the processor: splitting texts into words, folding them, and what finds them with a
// slip. Pure, so that it runs in any thread.
import { gramsOf } from './grams.ts';
import { remainsOf } from './near-words.ts';
import { digestOf, type Entry, searchDocumentOf } from './search-document.ts';
import { tsvectorText } from './tsquery-text.ts';

export interface EntriesJob {
  readonly kind: 'entries';
  /** Of the account whose entries they are. */
  readonly mark: string;
  readonly entries: readonly { readonly entry: Entry /** What is indexed now. */; readonly known: Uint8Array | null }[];
}

/** What is to be written of an entry; `null` when it is indexed so already. */
export type PreparedEntry = {
  readonly digest: Uint8Array;
  readonly vector: string;
  readonly words: readonly string[];
} | null;

export interface WordsJob {
  readonly kind: 'words';
  readonly words: readonly string[];
}

/** The words and what finds each with a slip, as elements of array literals of PostgreSQL. */
export interface PreparedWords {
  readonly words: string;
  readonly grams: string;
  readonly remains: string;
}

/** Does such work, here or elsewhere. What `over` gives up before it began is not done, and fails with its reason. */
export interface Prepare {
  entries(job: EntriesJob, over?: AbortSignal): Promise<readonly PreparedEntry[]>;
  words(job: WordsJob, over?: AbortSignal): Promise<PreparedWords>;
}

export function prepareEntries({ mark, entries }: EntriesJob): readonly PreparedEntry[] {
  return entries.map(({ entry, known }) => {
    const digest = digestOf(entry);
    if (known !== null && digest.equals(known)) return null;
    const document = searchDocumentOf(entry);
    return { digest, vector: tsvectorText(document, mark), words: document.words };
  });
}

export function prepareWords({ words }: WordsJob): PreparedWords {
  return {
    words: elements(words),
    grams: elements(words.map(gramsOf)),
    remains: elements(words.map((word) => remainsOf(word).join(' '))),
  };
}

function elements(texts: readonly string[]): string {
  return texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',');
}

export const prepareHere: Prepare = {
  entries: async (job) => prepareEntries(job),
  words: async (job) => prepareWords(job),
};
