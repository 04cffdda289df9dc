// One line that says what a figure was measured on, and the row that every bench reports.
import { cpus, release, type as system, totalmem } from 'node:os';

/**
 * One measured figure. A bench prints each as one line of JSON on standard output; everything else it has to say goes
 * to standard error.
 */
export interface BenchRow {
  /** What was measured, as a reader of the table understands it. */
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The promise, e.g. `≥ 0.40`; `null` for a figure that is only reported. */
  readonly target: string | null;
  /** Whether the promise is kept; `null` without a target. */
  readonly pass: boolean | null;
}

export function machineLine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${processors.length} cores, ${memory} GiB, ${system()} ${release()}, Node ${process.version}`;
}

/** A row whose promise is a lower bound. */
export function atLeast(name: string, value: number, unit: string, bound: number): BenchRow {
  return { name, value, unit, target: `≥ ${bound}`, pass: value >= bound };
}

/** A row whose promise is an upper bound. */
export function atMost(name: string, value: number, unit: string, bound: number): BenchRow {
  return { name, value, unit, target: `≤ ${bound}`, pass: value <= bound };
}

/** A row without a promise. */
export function reported(name: string, value: number, unit: string): BenchRow {
  return { name, value, unit, target: null, pass: null };
}

/** Hands a row to `bench/run.ts`. */
export function printRow(row: BenchRow): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('There is no median of nothing.');
  const lower = sorted[middle - 1];
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2;
}

/** The value that `percent` of all values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
