// The same work on libraries that search in memory: all accounts in one index, the account a filter of theirs.
import { create, insertMultiple, search } from '@orama/orama';
import MiniSearch from 'minisearch';
import type { Corpus, Question } from './corpus.ts';

/** What finds ids of notes of an account; best first. */
export type Finder = (account: number, typed: string, limit: number) => Promise<string[]>;

export function miniSearch(corpus: Corpus, accounts: number): Finder {
  const index = new MiniSearch({ fields: ['title', 'text'], storeFields: ['account', 'note'] });
  for (let account = 0; account < accounts; account += 1)
    index.addAll(
      corpus
        .notesOf(account)
        .map(({ id, title, text }) => ({ id: `${account}/${id}`, account, note: id, title, text })),
    );
  return async (account, typed, limit) =>
    index
      .search(typed, {
        prefix: true,
        fuzzy: (term) => (term.length >= 5 ? 1 : false),
        boost: { title: 2 },
        combineWith: 'AND',
        filter: (found) => found.account === account,
      })
      .slice(0, limit)
      .map((found) => String(found.note));
}

export async function orama(corpus: Corpus, accounts: number): Promise<Finder> {
  const index = create({ schema: { account: 'enum', note: 'string', title: 'string', text: 'string' } as const });
  for (let account = 0; account < accounts; account += 1)
    await insertMultiple(
      index,
      corpus.notesOf(account).map(({ id, title, text }) => ({ account, note: id, title, text })),
      1_000,
    );
  return async (account, typed, limit) => {
    const { hits } = await search(index, {
      term: typed,
      properties: ['title', 'text'],
      boost: { title: 2 },
      tolerance: typed.length >= 5 ? 1 : 0,
      threshold: 0,
      where: { account: { eq: account } },
      limit,
    });
    return hits.map(({ document }) => document.note);
  };
}

/** Milliseconds of each question, one after the other, and which part of those with a slip found what was meant. */
export async function ask(
  finder: Finder,
  questions: readonly Question[],
): Promise<{ readonly times: number[]; readonly recall: number }> {
  const times: number[] = [];
  let [slips, found] = [0, 0];
  for (const { kind, account, typed, meant } of questions) {
    const started = performance.now();
    const ids = await finder(account, typed, 20);
    times.push(performance.now() - started);
    if (kind !== 'slip') continue;
    slips += 1;
    if (ids.includes(meant)) found += 1;
  }
  return { times, recall: found / slips };
}
