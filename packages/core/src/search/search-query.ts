// Turns what a person typed into tsqueries. Nothing of it is syntax but double quotes around a phrase.
import { isComparable, quoteLexeme } from './search-document.ts';
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

/** tsqueries in their text form: what is found, and what of it counts more. */
export interface Matching {
  readonly found: string;
  /** The same with the last word as a whole word. */
  readonly exact: string;
  /** All words in the title, the last as a beginning. */
  readonly title: string;
  /** All words in the title, the last as a whole word. */
  readonly exactTitle: string;
}

/** @param similar words of the index that may stand for a typed one */
export function matchingOf(query: SearchQuery, similar: SimilarWords = new Map()): Matching {
  return {
    found: query.tsquery({ similar }),
    exact: query.tsquery({ similar, exact: true }),
    title: query.tsquery({ similar, title: true }),
    exactTitle: query.tsquery({ similar, exact: true, title: true }),
  };
}

export type SimilarWords = ReadonlyMap<string, readonly string[]>;

interface Reading {
  /** `exact` takes the last word as whole; `title` asks for every word in the title. */
  readonly exact?: boolean;
  readonly title?: boolean;
  readonly similar: SimilarWords;
}

export class SearchQuery {
  readonly #parts: readonly QueryPart[];

  constructor(typed: string) {
    this.#parts = [...typed.matchAll(/["“„]([^"“”„]*)["”“]|[^"“”„]+|["“”„]/g)]
      .map(([text, phrase]) => ({ phrase: phrase !== undefined, components: [...components(phrase ?? text)] }))
      .filter((part) => part.components.length > 0);
  }

  /** There is nothing to look for: only punctuation, or nothing at all. */
  get empty(): boolean {
    return this.#parts.length === 0;
  }

  /** Words outside quotes for which similar ones may be meant, each once. */
  get comparable(): Typed[] {
    const found = new Map<string, Typed>();
    for (const { phrase, components } of this.#parts) {
      if (phrase) continue;
      for (const word of components.flatMap(({ parts }) => parts)) {
        if (word.kind === 'word' && word.symbol === null && isComparable(word.folded))
          found.set(word.folded, { word: word.folded, last: word === this.#last });
      }
    }
    return [...found.values()];
  }

  /** Text form of a tsquery; to be asked only when the query is not empty. */
  tsquery(reading: Reading): string {
    return this.#parts
      .map(({ phrase, components }) =>
        phrase
          ? phraseOf(components, reading)
          : components.map((component) => this.#componentOf(component, reading)).join(' & '),
      )
      .join(' & ');
  }

  get #last(): Word | Run | undefined {
    const part = this.#parts.at(-1);
    return part === undefined || part.phrase ? undefined : part.components.at(-1)?.parts.at(-1);
  }

  #componentOf({ parts, joined }: Component, reading: Reading): string {
    const all = parts.map((part) => (part.kind === 'word' ? this.#wordOf(part, reading) : this.#runOf(part, reading)));
    if (joined === null) return all.join(' & ');
    return `((${all.join(' & ')}) | ${lexeme(joined, { ...reading, prefix: this.#isPrefix(parts.at(-1), reading) })})`;
  }

  #wordOf(word: Word, reading: Reading): string {
    const prefix = this.#isPrefix(word, reading);
    if (word.symbol !== null) return lexeme(word.symbol, { ...reading, prefix: false });
    const whole = reading.similar.get(word.folded) ?? [];
    const forms = [word.folded, ...(word.longForm === null ? [] : [word.longForm])];
    return oneOf([
      ...forms.map((form) => lexeme(form, { ...reading, prefix })),
      ...whole.map((form) => lexeme(form, { ...reading, prefix: false })),
    ]);
  }

  /** By the words of the dictionary, or as a part of any run: the dictionary cuts by what stands beside. */
  #runOf(run: Run, reading: Reading): string {
    const prefix = this.#isPrefix(run, reading);
    const last = run.words.at(-1);
    const words = run.words.map((word) => lexeme(word.folded, { ...reading, prefix: prefix && word === last }));
    return oneOf([`(${words.join(' & ')})`, chain(placesOfRun(run), reading)]);
  }

  #isPrefix(part: Word | Run | undefined, { exact }: Reading): boolean {
    return exact !== true && part !== undefined && part === this.#last;
  }
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

function phraseOf(all: readonly Component[], reading: Reading): string {
  const places = all.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.kind === 'run'
        ? placesOfRun(part)
        : [{ text: part.symbol ?? part.folded, position: part.position, prefix: false }],
    ),
  );
  return chain(places, reading);
}

function chain(places: readonly Placed[], reading: Reading): string {
  let text = '';
  places.forEach((place, index) => {
    const before = places[index - 1];
    if (before !== undefined) text += ` <${place.position - before.position}> `;
    text += lexeme(place.text, { ...reading, prefix: place.prefix });
  });
  return `(${text})`;
}

function oneOf(alternatives: readonly string[]): string {
  return alternatives.length === 1 ? (alternatives[0] ?? '') : `(${alternatives.join(' | ')})`;
}

function lexeme(text: string, { prefix, title }: Reading & { readonly prefix: boolean }): string {
  const marks = (prefix ? '*' : '') + (title === true ? 'AB' : '');
  return marks === '' ? quoteLexeme(text) : `${quoteLexeme(text)}:${marks}`;
}
