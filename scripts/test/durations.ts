// The recorded duration of each test file, for the order of runs, for the thirds of the rotation and for comparison. Each
// full run records in a folder of the machine; `--record` saves in the checkout, as data to commit.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Usage } from './usage.ts';

/** Path from the root of the checkout to seconds. */
export type Durations = Readonly<Record<string, { readonly wall: number; readonly cpu: number }>>;

/** The record that belongs to the checkout. */
export const CHECKED_IN = fileURLToPath(new URL('durations.json', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SLOWEST = 20;

/** The record of this machine, below its cache folder. */
export function keptDurations(cacheFolder: string): string {
  return path.join(cacheFolder, 'durations.json');
}

/** What the records say, the later ones first; nothing of one that is not there. */
export function readDurations(...records: readonly string[]): Durations {
  return Object.assign({}, ...records.map((record) => (existsSync(record) ? readRecord(record) : {})));
}

function readRecord(record: string): Durations {
  try {
    return JSON.parse(readFileSync(record, 'utf8'));
  } catch (error) {
    if (record === CHECKED_IN) throw error;
    // A run was killed while it wrote.
    return {};
  }
}

/** Keeps what the record says of other files, unless they are gone. */
export function recordDurations(record: string, usages: readonly Usage[]): void {
  const seconds = (value: number) => Math.round(value * 10) / 10;
  const merged = new Map(Object.entries(readDurations(record)).filter(([file]) => existsSync(path.join(ROOT, file))));
  for (const { file, wallSeconds, cpuSeconds } of usages)
    merged.set(file, { wall: seconds(wallSeconds), cpu: seconds(cpuSeconds) });
  const lines = [...merged]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, took]) => `  ${JSON.stringify(file)}: { "wall": ${took.wall}, "cpu": ${took.cpu} }`);
  mkdirSync(path.dirname(record), { recursive: true });
  writeFileSync(record, `{\n${lines.join(',\n')}\n}\n`);
}

/** The longest first. */
export function longestFirst(files: readonly string[], known: Durations): string[] {
  return files
    .map((file) => ({ file, wall: recordOf(file, known).wall }))
    .sort((one, other) => other.wall - one.wall)
    .map(({ file }) => file);
}

/** What a file adds to a run, three at a time on two processors: they are busy, or all three wait. */
export function expectedSeconds(file: string, known: Durations): number {
  const { wall, cpu } = recordOf(file, known);
  return Math.max(cpu / 2, wall / 3);
}

/** A file without a record counts as the median of its folder, or of the nearest that has one. */
function recordOf(file: string, known: Durations): Durations[string] {
  return known[file] ?? medianIn(path.dirname(file), known);
}

function medianIn(folder: string, known: Durations): Durations[string] {
  const inside = Object.entries(known)
    .filter(([file]) => folder === '.' || file.startsWith(`${folder}/`))
    .map(([, took]) => took)
    .sort((one, other) => one.wall - other.wall);
  const median = inside[Math.floor(inside.length / 2)];
  return median ?? (folder === '.' ? { wall: 0, cpu: 0 } : medianIn(path.dirname(folder), known));
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
