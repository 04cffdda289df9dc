// What changed in the files of an app, line by line.
import type { SourceFile } from '@platform/contract';
import { diffArrays } from 'diff';

export interface Line {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

export interface ComparedFile {
  readonly path: string;
  readonly change: 'same' | 'added' | 'removed' | 'changed';
  /** What they are to be compared by; `undefined` where there is none, `null` for what is no text. */
  readonly former: string | null | undefined;
  readonly next: string | null | undefined;
}

/** Beyond so many changed lines of a file, all of its former lines are shown as removed and all of its new ones as added. */
const MOST_CHANGES = 1_000;
/** As well beyond so many lines of both. */
const MOST_LINES = 20_000;
/** And where it takes longer. */
const MOST_MILLISECONDS = 200;

/** New and changed files come first, then those that are gone, then what is the same. Their lines are for {@link comparedLines}. */
export function compareFiles(former: readonly SourceFile[], next: readonly SourceFile[]): ComparedFile[] {
  const before = new Map(former.map((file) => [file.path, file]));
  const after = new Set(next.map(({ path }) => path));
  const compared = [
    ...next.map((file) => compare(file.path, before.get(file.path), file)),
    ...former.filter(({ path }) => !after.has(path)).map((file) => compare(file.path, file, undefined)),
  ];
  const order = ['changed', 'added', 'removed', 'same'];
  return compared.toSorted((one, other) => order.indexOf(one.change) - order.indexOf(other.change));
}

function compare(path: string, former: SourceFile | undefined, next: SourceFile | undefined): ComparedFile {
  const texts = { former: former?.text, next: next?.text };
  if (former === undefined) return { path, change: 'added', ...texts };
  if (next === undefined) return { path, change: 'removed', ...texts };
  const isSame = former.text === next.text && (former.text !== null || former.bytes === next.bytes);
  return { path, change: isSame ? 'same' : 'changed', ...texts };
}

/** Comparing takes a while, so it is done for the files that a person opens. @returns `null` where one of them is no text */
export function comparedLines({ change, former, next }: ComparedFile): Line[] | null {
  if (former === null || next === null) return null;
  if (change === 'same') return allAs('same', next ?? '');
  if (former === undefined) return allAs('added', next ?? '');
  if (next === undefined) return allAs('removed', former);
  return changesOf(former, next);
}

function allAs(kind: Line['kind'], text: string): Line[] {
  return linesOf(text).map((line) => ({ kind, text: line }));
}

function changesOf(former: string, next: string): Line[] {
  const [before, after] = [linesOf(former), linesOf(next)];
  const bounds = { maxEditLength: MOST_CHANGES, timeout: MOST_MILLISECONDS };
  const parts = before.length + after.length > MOST_LINES ? undefined : diffArrays(before, after, bounds);
  if (parts === undefined) return [...allAs('removed', former), ...allAs('added', next)];
  return parts.flatMap(({ added, removed, value }) =>
    value.map((text) => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text }) as const),
  );
}

/** The end of the last line is a line of its own where it has one, so that a change of it is seen. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

export interface Run {
  /** Lines that stayed and are far from any change: folded until the person wants to see them. */
  readonly folded: boolean;
  readonly lines: readonly Line[];
}

/** @param around how many unchanged lines stay in view beside each change */
export function runsOf(lines: readonly Line[], around = 3): Run[] {
  const near = new Set<number>();
  lines.forEach(({ kind }, index) => {
    if (kind !== 'same') for (let at = index - around; at <= index + around; at += 1) near.add(at);
  });
  const runs: { folded: boolean; lines: Line[] }[] = [];
  lines.forEach((line, index) => {
    const folded = !near.has(index);
    const last = runs.at(-1);
    if (last?.folded === folded) last.lines.push(line);
    else runs.push({ folded, lines: [line] });
  });
  return runs;
}
