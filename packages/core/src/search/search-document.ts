// Turns an entry into what is indexed of it: its words, where they stand, and with what weight.
import { hash } from 'node:crypto';
import { limits, type searchEntry } from '@platform/contract';
import type * as z from 'zod';
import { type Component, components, pairsOf } from './words.ts';

export type Entry = z.output<typeof searchEntry>;

export interface SearchDocument {
  /** Words that may be looked for by a part of them or with a slip. */
  readonly words: readonly string[];
  /** Where each lexeme stands. Weights: A title, B other spellings in the title, C text, D other spellings in it. */
  readonly places: ReadonlyMap<string, readonly Place[]>;
}

type Weight = 'A' | 'B' | 'C' | 'D';

interface Place {
  readonly position: number;
  readonly weight: Weight;
}

const LINE = limits.searchIndexedLine.value;
const TEXT = limits.searchIndexedText.value;
/**
 * Raised when the same entry is indexed differently than before: apps that send it again have it indexed anew. Texts are not
 * kept, so the others are found by what a query looks for in its former spelling.
 */
const FORMAT = 2;
/** Between title and text, so that no phrase reaches from one into the other. */
const GAP = 50;
/** PostgreSQL keeps no higher positions, and few of one word are enough. */
const LAST_POSITION = 16_383;
const POSITIONS = 16;

/** Names the contents of an entry: equal digests need no new indexing. */
export function digestOf({ id, title, kind, url, text }: Entry): Buffer {
  return hash('sha256', JSON.stringify([FORMAT, id, title, kind, url, text]), 'buffer').subarray(0, 16);
}

export function searchDocumentOf({ title, text, url }: Pick<Entry, 'title' | 'text' | 'url'>): SearchDocument {
  const lexemes = new Lexemes();
  lexemes.add(components(title, { most: LINE }), 'A', 'B');
  const after = lexemes.last + GAP;
  lexemes.add(components(text, { most: TEXT, start: after }), 'C', 'D');
  const address = addressIn(url);
  if (address !== null) lexemes.add(components(address, { most: LINE, start: lexemes.last + GAP }), 'D', 'D');
  return { words: [...lexemes.places.keys()].filter(isComparable), places: lexemes.places };
}

/** Bookmarks carry the address they lead to in their query: people search for it. */
function addressIn(url: string): string | null {
  const address = /https?(?::|%3a)(?:\/|%2f){2}(.*)/i.exec(url)?.[1];
  if (address === undefined) return null;
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}

class Lexemes {
  readonly places = new Map<string, Place[]>();
  last = 0;

  add(found: Iterable<Component>, weight: Weight, otherWeight: Weight): void {
    for (const { parts, joined } of found) {
      const [first] = parts;
      if (joined !== null && first !== undefined) this.#put(joined, first.position, otherWeight);
      for (const part of parts) {
        if (part.kind === 'word') {
          this.#put(part.folded, part.position, weight);
          for (const other of [part.longForm ?? [], part.inner].flat()) this.#put(other, part.position, otherWeight);
          if (part.symbol !== null) this.#put(part.symbol, part.position, weight);
          this.last = part.position;
          continue;
        }
        for (const { folded, offset } of part.words) this.#put(folded, part.position + offset, weight);
        const words = new Set(part.words.map(({ folded, offset }) => `${offset} ${folded}`));
        for (const { pair, offset } of pairsOf(part.characters)) {
          if (!words.has(`${offset} ${pair}`)) this.#put(pair, part.position + offset, otherWeight);
        }
        this.last = part.position + part.characters.length - 1;
      }
    }
  }

  #put(lexeme: string, position: number, weight: Weight): void {
    const places = this.places.get(lexeme) ?? [];
    this.places.set(lexeme, places);
    if (places.length < POSITIONS) places.push({ position: Math.min(position, LAST_POSITION), weight });
  }
}

/** Long enough that a part of it or a slip in it still says which word was meant. */
export function isComparable(word: string): boolean {
  return /^\p{L}+$/u.test(word) && word.length >= (/^[a-z]+$/.test(word) ? 4 : 3) && word.length <= 60;
}
