// One spelling for marks and digits that keyboards, scripts and languages write differently. A change here changes what is
// indexed: raise FORMAT in search-document.ts, and keep what queries need for entries that are indexed as before.

/** Between letters an apostrophe, also where Unicode calls it a letter (`Hawaiʻi`, `імʼя`), an accent or a prime. */
const APOSTROPHES = /(?<=[\p{L}\p{M}])(?: \u0301|[’‘‛❛❜′‵`ʹʻʼʽʾʿˈˊˋꞋꞌ՚׳])(?=\p{L})/gu;
/** At the beginning or the end of a word these are the same, and no part of it. */
const LETTERS_AS_APOSTROPHES = /[ʹʻʼʽʾʿˈˊˋꞋꞌ]/gu;
/** Within a Hebrew word, as in abbreviations; two apostrophes are typed for it too. */
const GERSHAYIM = /(?<=[\p{sc=Hebr}\p{M}])(?:[״"“”„″]|['’׳′]{2})(?=\p{sc=Hebr})/gu;
/** In Arabic script it parts a word as a space would: `کتاب‌ها`. In other scripts it only shapes. */
const ARABIC_NON_JOINER = /(?<=[\p{sc=Arab}\p{M}])\u200C(?=\p{sc=Arab})/gu;
const DIGIT_OF_SCRIPT = /(?![0-9])\p{Nd}/gu;
/** Dots for sounds of other languages, which many leave out: `क़लम` and `कलम`. */
const NUKTA = /[\u093C\u09BC\u0A3C\u0ABC\u0B3C\u0C3C\u0CBC\u{110BA}\u{11173}\u{111CA}\u{11236}\u{112E9}\u{116B7}]/gu;
/** Those that Unicode composes. */
const WITH_NUKTA: Readonly<Record<string, string>> = { ऩ: 'न', ऱ: 'र', ऴ: 'ळ' };

/** Of text in its compatibility form, before its invisible characters are taken out. Never longer than the text. */
export function oneSpelling(text: string): string {
  // Most texts have nothing else of it.
  if (/^[\p{ASCII}\u00A0-\u02B8]*$/u.test(text)) return text.replace(APOSTROPHES, "'");
  return withOneQuote(text)
    .replace(APOSTROPHES, "'")
    .replace(LETTERS_AS_APOSTROPHES, "'")
    .replace(ARABIC_NON_JOINER, "'")
    .replace(DIGIT_OF_SCRIPT, digitOf)
    .replace(NUKTA, '')
    .replace(/[ऩऱऴ]/gu, (letter) => WITH_NUKTA[letter] ?? letter);
}

/** Quotes within Hebrew words as an apostrophe, so that they quote nothing. */
export function withOneQuote(text: string): string {
  return text.replace(GERSHAYIM, "'");
}

/** Digits of a script stand together in Unicode, ten after ten from zero. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String((code - first) % 10);
}
