// What is searched in the measurement: notes of made-up words, as unevenly frequent as those of a language, and queries
// as people type them. The same for the same seed, so that every engine gets the same.
import { randomFrom } from '../../tests/support/random.ts';

export interface Note {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly url: string;
  readonly text: string;
}

export type QueryKind = 'words' | 'beginning' | 'slip';

export interface Question {
  readonly kind: QueryKind;
  readonly account: number;
  readonly typed: string;
  /** A note that was meant. */
  readonly meant: string;
}

const VOCABULARY = 20_000;
const TITLE_WORDS = 4;
const TEXT_WORDS = 10;
const KINDS = ['note', 'task', 'contact', 'file'];

const CONSONANTS = 'bcdfghjklmnprstvwz';
const VOWELS = 'aeiou';

export class Corpus {
  readonly #words: readonly string[];
  readonly notesEach: number;

  /** @param notesEach notes of each account */
  constructor(notesEach: number) {
    this.notesEach = notesEach;
    const random = randomFrom(1);
    const words = new Set<string>();
    while (words.size < VOCABULARY) words.add(wordOf(random));
    this.#words = [...words];
  }

  notesOf(account: number): Note[] {
    const random = randomFrom(1_000 + account);
    return Array.from({ length: this.notesEach }, (_, at) => this.note(`n${at}`, random));
  }

  note(id: string, random: () => number): Note {
    const some = (count: number) => Array.from({ length: count }, () => this.#word(random)).join(' ');
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? 'note';
    return { id, title: some(TITLE_WORDS), kind, url: `?note=${id}`, text: some(TEXT_WORDS) };
  }

  /** Half are whole words, a quarter what stands there while one still types, a quarter have a slip. */
  questions(count: number, accounts: number, seed: number): Question[] {
    const random = randomFrom(seed);
    return Array.from({ length: count }, (_, at) => {
      const account = Math.floor(random() * accounts);
      const kind: QueryKind = at % 4 === 0 ? 'slip' : at % 4 === 1 ? 'beginning' : 'words';
      return this.question(kind, account, random);
    });
  }

  question(kind: QueryKind, account: number, random: () => number): Question {
    const notes = this.notesOf(account);
    for (;;) {
      const note = notes[Math.floor(random() * notes.length)];
      const words = note?.title.split(' ').filter((word) => word.length >= 5) ?? [];
      const word = words[Math.floor(random() * words.length)];
      if (note === undefined || word === undefined) continue;
      // A word that fills a page says nothing about whether this note is found.
      if (kind === 'slip' && notes.filter(({ title, text }) => `${title} ${text}`.includes(word)).length > 5) continue;
      return { kind, account, typed: typedOf(kind, word, words, random), meant: note.id };
    }
  }

  /** Zipf's law, roughly: the n-th word is used in proportion to 1/n. */
  #word(random: () => number): string {
    return this.#words[Math.floor(VOCABULARY ** random()) - 1] ?? '';
  }
}

function wordOf(random: () => number): string {
  const pick = (letters: string) => letters.charAt(Math.floor(random() * letters.length));
  let word = '';
  for (let left = 2 + Math.floor(random() * 3); left > 0; left -= 1)
    word += pick(CONSONANTS) + pick(VOWELS) + (random() < 0.4 ? pick(CONSONANTS) : '');
  return word;
}

function typedOf(kind: QueryKind, word: string, words: readonly string[], random: () => number): string {
  if (kind === 'slip') return withSlip(word, random);
  if (kind === 'beginning') return word.slice(0, 3 + Math.floor(random() * (word.length - 3)));
  const other = words.find((one) => one !== word);
  return other !== undefined && random() < 0.5 ? `${word} ${other}` : word;
}

/** A letter too many, too few, another, or two swapped. */
export function withSlip(word: string, random: () => number): string {
  const letters = [...word];
  for (;;) {
    const at = Math.floor(random() * letters.length);
    const letter = CONSONANTS.charAt(Math.floor(random() * CONSONANTS.length));
    const [one = '', two = ''] = letters.slice(at, at + 2);
    const changed = [
      letters.toSpliced(at, 0, letter),
      letters.toSpliced(at, 1),
      letters.toSpliced(at, 1, letter),
      letters.toSpliced(at, 2, two, one),
    ][Math.floor(random() * 4)];
    const typed = (changed ?? letters).join('');
    if (typed !== word) return typed;
  }
}
