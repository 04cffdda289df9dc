// The known names that somebody probably meant: "Did you mean …?" for commands, members and permissions.

/** Longer names are not compared: this runs on what strangers send. */
const LONGEST = 64;
const MOST = 3;

/**
 * The names closest to `typed`, at most three, in the order of `known`: those with the fewest typing errors, otherwise
 * those that share its part before the dot (`notifications.send`). Empty when nothing is close.
 */
export function nearNames(typed: string, known: Iterable<string>): readonly string[] {
  if (typed.length > LONGEST) return [];
  const wanted = typed.toLowerCase();
  const names = [...known].filter((name) => name.length <= LONGEST);
  const group = wanted.slice(0, wanted.indexOf('.') + 1);
  const siblings = group === '' ? [] : names.filter((name) => name.startsWith(group));
  // Within a group only the rest can be wrong, and its few letters decide.
  const near = siblings.length > 0 ? closest(wanted, siblings, group.length) : closest(wanted, names, 0);
  if (near.length > 0) return near.slice(0, MOST);
  return siblings.length <= MOST ? siblings : [];
}

function closest(wanted: string, names: readonly string[], from: number): readonly string[] {
  const distances = names.map((name) => distance(wanted.slice(from), name.toLowerCase().slice(from)));
  const least = Math.min(...distances);
  const few = Math.max(1, Math.floor((wanted.length - from) / 4));
  return least > few ? [] : names.filter((_, index) => distances[index] === least);
}

/** ` (did you mean "a" or "b"?)`, to follow the name; empty when nothing is close. */
export function didYouMean(typed: string, known: Iterable<string>): string {
  const near = nearNames(typed, known);
  return near.length === 0 ? '' : ` (did you mean ${alternatives(near.map((name) => JSON.stringify(name)))}?)`;
}

/** `a`, `a or b`, `a, b or c`. */
export function alternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** Letters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
function distance(one: string, other: string): number {
  let former: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const choices = [at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + cost];
      next[j] = Math.min(...choices, ...(swapped ? [at(former, j - 2) + 1] : []));
    }
    former = row;
    row = next;
  }
  return at(row, other.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
