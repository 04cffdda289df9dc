// Reads what a person typed. Nothing of it is syntax but double quotes around a phrase.
import { isDeepStrictEqual } from 'node:util';
import { limits } from '@platform/contract';
import { allOf, anyOf, type Condition, exactly, type PlacedWord } from './condition.ts';
import type { Spelling } from './fold.ts';
import { isComparable } from './search-document.ts';
import { withOneQuote } from './spellings.ts';
import { type Component, components, pairsOf, type Run, type Word } from './words.ts';

interface QueryPart {
  /** In quotes: these words in this order, as they are. */
  readonly phrase: boolean;
  readonly components: readonly Component[];
}

/** A word to which similar ones may be looked up. */
export interface Typed {
  readonly word: string;
  /** The last word may be only the beginning of one. */
  readonly last: boolean;
}

/** Whether the last word may be only the beginning of one. */
type LastWord = 'beginning' | 'whole';

/** Typed words for which similar ones are looked up; each costs a look into the index, and at every installed app. */
const COMPARED = 8;

/** What is looked for of a query with very many words: each costs a look into the index. */
function firstWords(parts: readonly QueryPart[]): QueryPart[] {
  let left: number = limits.searchQueryWords.value;
  return parts.flatMap((part) => {
    const kept = part.components.slice(0, left);
    left -= kept.length;
    return kept.length === 0 ? [] : [{ ...part, components: kept }];
  });
}

export class SearchQuery {
  /** By the words of today, and where they differ by those of entries that were indexed before. */
  readonly #readings: readonly Reading[];

  constructor(typed: string) {
    const text = withOneQuote(typed);
    const today = new Reading(text, 'one');
    const former = new Reading(typed, 'former');
    this.#readings = text === typed && today.isSameAs(former) ? [today] : [today, former];
  }

  /** There is nothing to look for: only punctuation, or nothing at all. */
  get empty(): boolean {
    return this.#readings.every(({ empty }) => empty);
  }

  /** The first words outside quotes for which similar ones may be meant, each once. */
  get comparable(): Typed[] {
    const found = new Map<string, Typed>();
    for (const { comparable } of this.#readings) for (const typed of comparable) found.set(typed.word, typed);
    return [...found.values()].slice(0, COMPARED);
  }

  /** What an entry must hold; to be asked only when the query is not empty. */
  condition(lastWord: LastWord): Condition {
    return anyOf(this.#readings.filter(({ empty }) => !empty).map((reading) => reading.condition(lastWord)));
  }
}

/** The query in one spelling of its words. */
class Reading {
  readonly #parts: readonly QueryPart[];

  constructor(typed: string, spelling: Spelling) {
    const options = { most: limits.searchQueryWritten.value, spelling };
    const parts: QueryPart[] = [...typed.matchAll(/["“„]([^"“”„]*)["”“]|[^"“”„]+|["“”„]/g)]
      .map(([text, phrase]) => ({ phrase: phrase !== undefined, components: [...components(phrase ?? text, options)] }))
      .filter((part) => part.components.length > 0);
    this.#parts = firstWords(parts);
  }

  isSameAs(other: Reading): boolean {
    return isDeepStrictEqual(this.#parts, other.#parts);
  }

  get empty(): boolean {
    return this.#parts.length === 0;
  }

  get comparable(): Typed[] {
    return this.#parts
      .filter(({ phrase }) => !phrase)
      .flatMap((part) => part.components.flatMap(({ parts }) => parts))
      .filter((word) => word.kind === 'word')
      .filter(isTyped)
      .map((word) => ({ word: word.folded, last: this.#isLast(word) }));
  }

  condition(lastWord: LastWord): Condition {
    const prefixed = (part: Word | Run | undefined) => lastWord === 'beginning' && this.#isLast(part);
    return allOf(
      this.#parts.flatMap(({ phrase, components }) =>
        phrase ? [phraseOf(components)] : components.map((component) => this.#componentOf(component, prefixed)),
      ),
    );
  }

  #isLast(word: Word | Run | undefined): boolean {
    const part = this.#parts.at(-1);
    return word !== undefined && part?.phrase === false && part.components.at(-1)?.parts.at(-1) === word;
  }

  #componentOf({ parts, joined }: Component, prefixed: (part: Word | Run | undefined) => boolean): Condition {
    const all = allOf(
      parts.map((part) => (part.kind === 'word' ? this.#wordOf(part, prefixed(part)) : runOf(part, prefixed(part)))),
    );
    return joined === null ? all : anyOf([all, exactly(joined, prefixed(parts.at(-1)))]);
  }

  #wordOf(word: Word, prefix: boolean): Condition {
    if (word.symbol !== null) return exactly(word.symbol, false);
    const comparable = isTyped(word) ? { last: this.#isLast(word) } : null;
    return anyOf([
      { kind: 'word', text: word.folded, prefix, comparable },
      ...(word.longForm === null ? [] : [exactly(word.longForm, prefix)]),
    ]);
  }
}

function isTyped({ symbol, folded }: Word): boolean {
  return symbol === null && isComparable(folded);
}

/** By the words of the dictionary, or as a part of any run: the dictionary cuts by what stands beside. */
function runOf(run: Run, prefix: boolean): Condition {
  const last = run.words.at(-1);
  const words = run.words.map((word) => exactly(word.folded, prefix && word === last));
  return anyOf([allOf(words), chain(placesOfRun(run))]);
}

interface Placed {
  readonly text: string;
  readonly position: number;
  readonly prefix: boolean;
}

function placesOfRun({ characters, position }: Run): Placed[] {
  const pairs = pairsOf(characters);
  // A single character is found by the pairs that it begins.
  const kept = pairs.length === 1 ? pairs : pairs.slice(0, -1);
  return kept.map(({ pair, offset }) => ({ text: pair, position: position + offset, prefix: pairs.length === 1 }));
}

function phraseOf(all: readonly Component[]): Condition {
  const places = all.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.kind === 'run'
        ? placesOfRun(part)
        : [{ text: part.symbol ?? part.folded, position: part.position, prefix: false }],
    ),
  );
  return chain(places);
}

function chain(places: readonly Placed[]): Condition {
  const of = places.map(
    ({ text, prefix, position }, index): PlacedWord => ({
      text,
      prefix,
      distance: position - (places[index - 1]?.position ?? position),
    }),
  );
  return { kind: 'ordered', of };
}
