// Cuts text into words, the same way for indexing and for querying.
import { foldWord, longForm, plainText, type Spelling } from './fold.ts';

interface Place {
  /** Counts words, and characters of scripts without spaces, so that neighbours can be recognised. */
  readonly position: number;
}

/** A word of a script that puts spaces between words, or an emoji. */
export interface Word extends Place {
  readonly kind: 'word';
  readonly folded: string;
  /** How it is written where its letters are missing: `muell` for `Müll`; or `null`. */
  readonly longForm: string | null;
  /** The words written together in it: `user` and `name` in `userName`, `c++` where `c++20` begins. */
  readonly inner: readonly string[];
  /** `c++` and `c#` are other words than `c`. */
  readonly symbol: string | null;
}

/** A piece of a script without spaces (and Korean, whose words carry endings): words by dictionary, and pairs. */
export interface Run extends Place {
  readonly kind: 'run';
  readonly characters: readonly string[];
  /** Words as the dictionary of the segmenter cuts them, with their offset in characters. */
  readonly words: readonly { readonly folded: string; readonly offset: number }[];
}

/** What a person sees as one thing: `well-being`, `O'Brien`, `978-3-16-148410-0`, or simply one word. */
export interface Component {
  readonly parts: readonly (Word | Run)[];
  /** The parts written together; `null` for a single one. */
  readonly joined: string | null;
}

const UNSPACED =
  '\\p{scx=Hani}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}';
const PIECE = new RegExp(
  `(?<run>[[${UNSPACED}]&&[\\p{L}\\p{N}\\p{M}]]+)|(?<word>[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]+)|(?<emoji>\\p{RI}\\p{RI}|\\p{Extended_Pictographic})`,
  'gv',
);
const CONNECTOR = /^[-'’‘._/&@:·‐–+]$/;
const PARTS = 8;
const JOINED_LENGTH = 40;
/** Longer ones are no words; what they begin with is enough to find them. */
const LONGEST = 100;

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * @param most UTF-16 units of the text in its plain form: the rest is left, however little text it was before
 * @param start position of the first word. Default: 1
 */
export function* components(
  text: string,
  {
    most,
    start = 1,
    spelling = 'one',
  }: { readonly most: number; readonly start?: number; readonly spelling?: Spelling },
): Generator<Component> {
  const plain = plainText(text, most, spelling);
  let position = start;
  let parts: (Word | Run)[] = [];
  let end = 0;
  let digits = false;
  for (const match of plain.matchAll(PIECE)) {
    const [piece] = match;
    const between = plain.slice(end, match.index);
    const isDigits = /^\d+$/.test(piece);
    const connects = CONNECTOR.test(between) || (between === ' ' && digits && isDigits);
    if (parts.length > 0 && (!connects || parts.length === PARTS)) {
      yield componentOf(parts);
      parts = [];
    }
    end = match.index + piece.length;
    digits = isDigits;
    const part = match.groups?.run === undefined ? wordOf(piece, plain, end, position) : runOf(piece, position);
    position += part.kind === 'run' ? part.characters.length : 1;
    parts.push(part);
  }
  if (parts.length > 0) yield componentOf(parts);
}

function componentOf(parts: readonly (Word | Run)[]): Component {
  const joined = parts.map((part) => (part.kind === 'word' ? part.folded : part.characters.join(''))).join('');
  return { parts, joined: parts.length > 1 && joined.length <= JOINED_LENGTH ? joined : null };
}

function wordOf(piece: string, plain: string, end: number, position: number): Word {
  const spellings = spellingsOf(piece);
  const version = versionedSymbolOf(piece, plain, end);
  const inner = version === null ? spellings.inner : [...spellings.inner, version];
  return { kind: 'word', position, ...spellings, inner, symbol: symbolOf(piece, plain, end) };
}

type Spellings = Pick<Word, 'folded' | 'longForm' | 'inner'>;

function spellingsOf(piece: string): Spellings {
  // Most words of most texts are these already, and an index holds millions.
  if (piece.length <= LONGEST && /^(?:[a-z]+|\d+)$/.test(piece)) return { folded: piece, longForm: null, inner: [] };
  const inner = piece.split(INNER_BORDER).map(foldWord);
  return {
    // Accents that fold away are few: of a longer word no more than its beginning is folded.
    folded: foldWord(piece.slice(0, 3 * LONGEST)).slice(0, LONGEST),
    longForm: longForm(piece)?.slice(0, LONGEST) ?? null,
    inner: inner.length > 1 ? inner.filter((one) => one.length > 1) : [],
  };
}

function symbolOf(piece: string, plain: string, end: number): string | null {
  if (piece.length > 2) return null;
  const sign = /^[+#]{1,2}(?![\p{L}\p{N}+#])/u.exec(plain.slice(end, end + 3))?.[0];
  return sign === undefined ? null : foldWord(piece) + sign;
}

/** `c++` of `C++20`, of which the number is a word by itself. */
function versionedSymbolOf(piece: string, plain: string, end: number): string | null {
  return piece.length <= 2 && /^\+\+\p{N}/u.test(plain.slice(end, end + 4)) ? `${foldWord(piece)}++` : null;
}

/** Between `user` and `Name`, `PDF` and `File`, `report` and `2026`. */
const INNER_BORDER =
  /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L}{2})(?=\p{N}{2})|(?<=\p{N}{2})(?=\p{L}{2})/u;

function runOf(piece: string, position: number): Run {
  const folded = foldWord(piece);
  const words: { folded: string; offset: number }[] = [];
  let offset = 0;
  for (const { segment } of segmenter.segment(folded)) {
    words.push({ folded: segment.slice(0, LONGEST), offset });
    offset += [...segment].length;
  }
  return { kind: 'run', position, characters: [...folded], words };
}

/** Neighbouring characters, and the last one alone: together they find any part of a run. */
export function pairsOf(characters: readonly string[]): { readonly pair: string; readonly offset: number }[] {
  return characters.map((character, offset) => ({ pair: character + (characters[offset + 1] ?? ''), offset }));
}
