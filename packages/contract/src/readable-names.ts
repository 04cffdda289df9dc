// What people tell apart by reading: names of apps, titles of notifications and of what the search finds. No character in them is
// invisible, and no word of a name mixes scripts that look alike (UTS 39, sections 3.1 and 5.2; docs/decisions/names.md).

/** Whatever draws nothing: fillers, joiners, selectors, tags, soft hyphens; and the blank of Braille. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Emoji with their selectors, joiners and tags, as people type them. */
const EMOJI =
  /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})[\uFE0E\uFE0F]?\p{Emoji_Modifier}?(?:\u200D\p{Extended_Pictographic}[\uFE0E\uFE0F]?\p{Emoji_Modifier}?){0,5}(?:[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F})?|[0-9#*]\uFE0F?\u20E3/gu;

const JOINING =
  '\\p{sc=Arab}\\p{sc=Syrc}\\p{sc=Nkoo}\\p{sc=Mong}\\p{sc=Deva}\\p{sc=Beng}\\p{sc=Guru}\\p{sc=Gujr}\\p{sc=Orya}\\p{sc=Taml}\\p{sc=Telu}\\p{sc=Knda}\\p{sc=Mlym}\\p{sc=Sinh}\\p{sc=Khmr}\\p{sc=Mymr}\\p{sc=Tibt}';
/** Joiners behind letters of scripts that are written with them. */
const JOINERS = new RegExp(`(?<=(?=[\\p{L}\\p{M}])[${JOINING}])[\\u200C\\u200D]`, 'gu');
/** Variants of ideographs, and of Mongolian letters. */
const VARIANTS = /(?<=\p{sc=Hani})[\u{E0100}-\u{E01EF}\uFE00-\uFE02]|(?<=\p{sc=Mong})[\u180B-\u180D\u180F]/gu;
const RIGHT_TO_LEFT = /(?=\p{L})[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u;
/** Marks that say where a text that is written from right to left goes on. */
const DIRECTIONS = /[\u200E\u200F\u061C]/gu;

function showsAll(text: string): boolean {
  if (!INVISIBLE.test(text)) return true;
  const rest = text.replace(EMOJI, '').replace(JOINERS, '').replace(VARIANTS, '');
  return !INVISIBLE.test(RIGHT_TO_LEFT.test(rest) ? rest.replace(DIRECTIONS, '') : rest);
}

/** Arguments of `z.string().refine(…)`. */
export const nothingHidden = [showsAll, 'must not contain invisible characters'] as const;

const ANY = '\\p{sc=Zyyy}\\p{sc=Zinh}';
const wordOf = (...scripts: readonly string[]) =>
  new RegExp(`^[${scripts.map((script) => `\\p{scx=${script}}`).join('')}${ANY}]*$`, 'u');
/** Those that are written together, which Latin letters may join (UTS 39: highly restrictive). */
const TOGETHER = [
  wordOf('Latn', 'Hani', 'Hira', 'Kana'),
  wordOf('Latn', 'Hani', 'Bopo'),
  wordOf('Latn', 'Hani', 'Hang'),
];
/** Those whose letters look like each other's. */
const ALIKE = ['Latn', 'Cyrl', 'Grek', 'Armn', 'Cher', 'Copt', 'Lisu'] as const;
const OF_ONE = ALIKE.map((script) => wordOf(script));
const OF_ANY = new RegExp(`[${ALIKE.map((script) => `\\p{sc=${script}}`).join('')}]`, 'u');

function isUnmixed(word: string): boolean {
  return [...OF_ONE, ...TOGETHER].some((pattern) => pattern.test(word)) || !OF_ANY.test(word);
}

/** Arguments of `z.string().refine(…)`, for the names by which people trust. */
export const unmixedWords = [
  (text: string) => text.split(/[^\p{L}\p{M}]+/u).every(isUnmixed),
  'must not mix letters of several scripts in a word',
] as const;
