// Unicode normalization that stops: one character may stand for eighteen (U+FDFA), so a limit that holds before says
// little about what comes after.

/** UTF-16 units that are normalized at once: at most some ten thousand come of them. */
const PIECE = 512;
/** How far back from the end of a piece a place to cut is looked for. */
const BACK = 64;
/** Characters that may join with the one before them: marks, the later parts of Korean syllables, half-width voicing marks. */
const JOINS = /^[\p{M}\u1160-\u11FF\uFF9E\uFF9F]/u;

export interface Normalized {
  readonly text: string;
  /** There was more. */
  readonly cut: boolean;
}

/**
 * The first `most` UTF-16 units of `text` in a normalization form (Unicode Standard Annex 15), and whether that is all.
 * Never holds much more, whatever the text expands to.
 */
export function normalizeWithin(text: string, form: 'NFKC' | 'NFKD', most: number): Normalized {
  let made = '';
  for (let at = 0; at < text.length; ) {
    if (made.length >= most) return { text: cutAt(made, most), cut: true };
    const end = endOfPiece(text, at);
    made += text.slice(at, end).normalize(form);
    at = end;
  }
  return made.length > most ? { text: cutAt(made, most), cut: true } : { text: made, cut: false };
}

/** Where what follows does not belong to what is before. */
function endOfPiece(text: string, start: number): number {
  const end = start + PIECE;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - BACK; at -= 1) {
    if (!isLowSurrogate(text, at) && !JOINS.test(text.slice(at, at + 2))) return at;
  }
  return isLowSurrogate(text, end) ? end + 1 : end;
}

function cutAt(text: string, most: number): string {
  return text.slice(0, isLowSurrogate(text, most) ? most - 1 : most);
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
