// Compares a query with a document at hand, as PostgreSQL does with those it keeps: installed apps are few, and the way
// to the database costs more than they do.
import type { Condition, PlacedWord } from './condition.ts';
import type { SearchDocument } from './search-document.ts';
import type { SearchQuery } from './search-query.ts';
import type { SimilarWords } from './similar-words.ts';

type Places = SearchDocument['places'];

interface Reading {
  readonly places: Places;
  readonly similar: SimilarWords;
  /** Matches only if every word is in the title. */
  readonly title: boolean;
}

/**
 * Ranks as `queries.ts` does, but for how often words stand there: 0 to 0.9, or `null` when the document does not
 * match.
 *
 * @param typedLength characters that were typed
 */
export function scoreOfDocument(
  { places }: Pick<SearchDocument, 'places'>,
  title: string,
  { query, similar, typedLength }: { query: SearchQuery; similar: SimilarWords; typedLength: number },
): number | null {
  const [beginning, whole] = [query.condition('beginning'), query.condition('whole')];
  const [anywhere, inTitle] = [
    { places, similar, title: false },
    { places, similar, title: true },
  ];
  if (!holds(beginning, anywhere)) return null;
  const rank = holds(whole, inTitle) ? 0.75 : holds(beginning, inTitle) ? 0.5 : holds(whole, anywhere) ? 0.25 : 0;
  return rank + (0.15 * Math.floor(4 * Math.min(1, typedLength / [...title].length))) / 4;
}

export function holds(condition: Condition, reading: Reading): boolean {
  switch (condition.kind) {
    case 'word': {
      const { text, prefix, comparable } = condition;
      if (positionsOf(text, prefix, reading).length > 0) return true;
      const others = comparable === null ? [] : (reading.similar.get(text) ?? []);
      return others.some((other) => positionsOf(other, false, reading).length > 0);
    }
    case 'all':
      return condition.of.every((part) => holds(part, reading));
    case 'any':
      return condition.of.some((part) => holds(part, reading));
    case 'ordered':
      return follow(condition.of, reading);
  }
}

function follow(words: readonly PlacedWord[], reading: Reading): boolean {
  const [first, ...others] = words;
  if (first === undefined) return false;
  let ends = positionsOf(first.text, first.prefix, reading);
  for (const { text, prefix, distance } of others) {
    const next = new Set(positionsOf(text, prefix, reading));
    ends = ends.map((end) => end + distance).filter((position) => next.has(position));
  }
  return ends.length > 0;
}

function positionsOf(text: string, prefix: boolean, { places, title }: Reading): number[] {
  const found = prefix
    ? [...places].flatMap(([lexeme, there]) => (lexeme.startsWith(text) ? there : []))
    : (places.get(text) ?? []);
  return found.filter(({ weight }) => !title || weight === 'A' || weight === 'B').map(({ position }) => position);
}
