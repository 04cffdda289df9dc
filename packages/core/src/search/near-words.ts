// How far a typed word is from one that exists: insertions, deletions, substitutions and swaps of neighbours
// (Damerau-Levenshtein in its restricted form, optimal string alignment).

/**
 * The edit distance between `typed` and `word`, or `null` above `most`. With `prefix`, letters of `word` after the
 * typed ones cost nothing.
 */
export function slips(
  typed: string,
  word: string,
  { most, prefix }: { readonly most: number; readonly prefix: boolean },
): number | null {
  const a = [...typed];
  const b = prefix ? [...word].slice(0, a.length + most) : [...word];
  if (Math.abs(a.length - b.length) > most && !prefix) return null;
  let before: number[] = [];
  let previous = b.map((_, index) => index + 1);
  previous.unshift(0);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, at(before, column - 2) + 1);
      current.push(best);
    }
    // A row comes from the two above it: it will not become less.
    if (Math.min(...current) > most && Math.min(...previous) > most) return null;
    before = previous;
    previous = current;
  }
  const distance = prefix ? Math.min(...previous) : at(previous, b.length);
  return distance <= most ? distance : null;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/**
 * The word, and what is left of it without one of its letters. Words that are one slip apart have one of these in
 * common, so an index of them finds every such word.
 */
export function remainsOf(word: string): string[] {
  const letters = [...word];
  return [...new Set([word, ...letters.map((_, index) => letters.toSpliced(index, 1).join(''))])];
}
