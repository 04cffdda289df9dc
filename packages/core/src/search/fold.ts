// Makes words comparable: one form for all spellings that a person takes for the same word.
import { normalizeWithin } from '../normalize.ts';
import { oneSpelling } from './spellings.ts';

/** Letters that Unicode does not decompose, and others that one language writes where its neighbour writes another. */
const SPECIAL: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ς: 'σ',
  ة: 'ه',
  ى: 'ی',
  ي: 'ی',
  ك: 'ک',
  ـ: '',
};
const SPECIAL_LETTERS = new RegExp(`[${Object.keys(SPECIAL).join('')}]`, 'gu');
/** Accents, Hebrew points and Arabic vowels; not the vowel signs of Indic scripts, nor the voicing marks of Kana. */
const ACCENTS = /(?![\u3099\u309A])(?:[\p{Mn}&&[\p{sc=Zinh}\p{sc=Hebr}\p{sc=Arab}]])/gv;
/** Joiners, soft hyphens, direction marks, variation selectors: nothing that is typed into a search box. */
const INVISIBLE = /\p{Cf}|\p{Variation_Selector}/gu;

/** Entries that were indexed before FORMAT 2 have the words of the former one (search-document.ts). */
export type Spelling = 'one' | 'former';

/**
 * Compatibility forms (full width, ligatures, superscripts) as plain characters, in one spelling and without invisible ones.
 *
 * @param most UTF-16 units of it, before the invisible ones are taken out: the rest is left
 */
export function plainText(text: string, most: number, spelling: Spelling = 'one'): string {
  const normal = normalizeWithin(text, 'NFKC', most).text;
  return (spelling === 'one' ? oneSpelling(normal) : normal).replace(INVISIBLE, '');
}

/** Case and accents folded; `word` comes from `plainText`. */
export function foldWord(word: string): string {
  // Through upper case, so that ß becomes ss.
  const lower = word.toUpperCase().toLowerCase();
  if (/^[a-z0-9]*$/.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .replace(SPECIAL_LETTERS, (letter) => SPECIAL[letter] ?? letter);
}

const LONG_FORMS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

/** How the word is written where its letters are missing (`Müll`: `muell`), or `null` when it has none of these. */
export function longForm(word: string): string | null {
  const lower = word.toLowerCase();
  const long = lower.replace(/[äöüøå]/g, (letter) => LONG_FORMS[letter] ?? letter);
  return long === lower ? null : foldWord(long);
}
