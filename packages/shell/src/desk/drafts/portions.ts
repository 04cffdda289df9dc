// How much of a file is drawn at once: a part, and more when the person wants to, so that no file makes the page stand still.
import type { Line, Run } from './line-diff.ts';

/** Lines that are drawn at once. */
export const PORTION = 400;
/** Of one line, characters that are drawn at once. */
export const LINE_PORTION = 5_000;
/** About so many characters fill a row on a wide screen: a long line counts as the rows that it takes. */
const CHARACTERS_PER_ROW = 500;

export interface Part {
  readonly runs: readonly Run[];
  /** Lines that are not among them. */
  readonly left: number;
}

/** The first lines, as many as fill `most` rows. What is folded takes no room and counts as seen: only its own button shows it. */
export function partOf(runs: readonly Run[], most: number): Part {
  const shown: Run[] = [];
  let room = most;
  let left = 0;
  for (const run of runs) {
    if (run.folded) {
      if (left === 0) shown.push(run);
      continue;
    }
    const lines = left > 0 ? [] : linesWithin(run.lines, room);
    room -= lines.reduce((sum, line) => sum + rowsOf(line), 0);
    left += run.lines.length - lines.length;
    if (lines.length > 0) shown.push({ folded: false, lines });
  }
  return { runs: shown, left };
}

/** None after one for which there is no room. */
function linesWithin(lines: readonly Line[], rows: number): readonly Line[] {
  let left = rows;
  const end = lines.findIndex((line) => {
    left -= rowsOf(line);
    return left < 0;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function rowsOf({ text }: Line): number {
  return 1 + Math.floor(Math.min(text.length, LINE_PORTION) / CHARACTERS_PER_ROW);
}
