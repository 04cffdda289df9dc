// The recorded duration of each test file (`npm test -- --record`), for the order of runs and for comparison.
// Unrecorded files count as long, so that a new one never starts last.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import type { Usage } from './usage.ts';

/** Path from the root of the checkout to seconds. */
export type Durations = Readonly<Record<string, { readonly wall: number; readonly cpu: number }>>;

const RECORD = new URL('durations.json', import.meta.url);
const SLOWEST = 20;

export function readDurations(): Durations {
  return JSON.parse(readFileSync(RECORD, 'utf8'));
}

/** Keeps what is known of other files, unless they are gone. */
export function recordDurations(usages: readonly Usage[]): void {
  const seconds = (value: number) => Math.round(value * 10) / 10;
  const merged = new Map(
    Object.entries(readDurations()).filter(([file]) => existsSync(new URL(`../../${file}`, import.meta.url))),
  );
  for (const { file, wallSeconds, cpuSeconds } of usages)
    merged.set(file, { wall: seconds(wallSeconds), cpu: seconds(cpuSeconds) });
  const lines = [...merged]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, took]) => `  ${JSON.stringify(file)}: { "wall": ${took.wall}, "cpu": ${took.cpu} }`);
  writeFileSync(RECORD, `{\n${lines.join(',\n')}\n}\n`);
}

/** Unrecorded files first, by size; then recorded ones, the longest first. */
export function longestFirst(files: readonly string[], known: Durations, sizeOf: (file: string) => number): string[] {
  const rank = (file: string) => known[file]?.wall ?? Number.POSITIVE_INFINITY;
  const compare = (one: string, other: string) =>
    rank(one) === rank(other) ? sizeOf(other) - sizeOf(one) : rank(other) - rank(one);
  return [...files].sort(compare);
}

/** The slowest files with their seconds, as a table for the end of a run. */
export function slowestTable(usages: readonly Usage[]): string {
  const slowest = [...usages].sort((one, other) => other.wallSeconds - one.wallSeconds).slice(0, SLOWEST);
  const row = (wall: string, cpu: string, file: string) => `${wall.padStart(8)}${cpu.padStart(8)}  ${file}`;
  const cells = slowest.map((one) => row(one.wallSeconds.toFixed(1), one.cpuSeconds.toFixed(1), one.file));
  const sum = (of: 'wallSeconds' | 'cpuSeconds') => usages.reduce((total, one) => total + one[of], 0).toFixed(0);
  const all = row(sum('wallSeconds'), sum('cpuSeconds'), `all ${usages.length} files`);
  return [`The slowest files, in seconds:`, row('wall', 'cpu', 'file'), ...cells, all].join('\n');
}

/** One usage for each file, the longest where a file has left several. */
export function readUsages(file: string, root: string): Usage[] {
  const found = new Map<string, Usage>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const usage: Usage = JSON.parse(line);
    const name = path.relative(root, usage.file);
    if ((found.get(name)?.wallSeconds ?? 0) < usage.wallSeconds) found.set(name, { ...usage, file: name });
  }
  return [...found.values()];
}
