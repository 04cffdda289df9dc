// Which words of an index a typed word may stand for: those that hold it, and those it was meant to be.
import { slips } from './near-words.ts';
import type { Typed } from './search-query.ts';

/** For a typed word, the words of an index that may stand for it. */
export type SimilarWords = ReadonlyMap<string, readonly string[]>;

/** Letters of the longer of both words from which on there may be one slip (contract 4), and two. */
const FIRST_SLIP = 5;
const SECOND_SLIP = 7;
/** Words that may stand for one typed word. */
const MOST = 30;

/**
 * @param proposed words of the index, best first for each typed word
 * @param most slips allowed in a word that is long enough
 */
export function similarWords(
  typed: readonly Typed[],
  proposed: readonly { readonly typed: string; readonly word: string }[],
  most: number,
): SimilarWords {
  const similar = new Map<string, string[]>();
  for (const { word, last } of typed) {
    const found = proposed
      .filter((proposal) => proposal.typed === word && proposal.word !== word)
      .map((proposal) => proposal.word)
      .filter((other) => other.includes(word) || isNear(word, other, { most, last }));
    if (found.length > 0) similar.set(word, found.slice(0, MOST));
  }
  return similar;
}

function isNear(
  typed: string,
  word: string,
  { most, last }: { readonly most: number; readonly last: boolean },
): boolean {
  const length = Math.max(typed.length, word.length);
  if (length < FIRST_SLIP) return false;
  if (slips(typed, word, { most: length < SECOND_SLIP ? 1 : most, prefix: false }) !== null) return true;
  // The beginning of a word with a slip in it says less than a whole word.
  return last && typed.length >= SECOND_SLIP && slips(typed, word, { most, prefix: true }) !== null;
}
