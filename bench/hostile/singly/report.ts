// What an attack cost others: a row for the worst of what they asked and rows for the memory on standard output, and a table of
// everything on standard error.
import { atMost, median, percentile, printRow, reported } from '../../machine.ts';
import { MEMORY_MIB } from '../mixed.ts';
import type { Look } from './look.ts';

const FACTOR = 3;
const MORE_MILLISECONDS = 20;

export interface Measured {
  readonly name: string;
  readonly quiet: Look;
  readonly beside: Look;
  /** What the attack was answered, as JSON. */
  readonly answers: string;
  /** Seconds after it until others were answered as before. */
  readonly recovery: number;
}

interface Compared {
  readonly asked: string;
  readonly p50: number;
  readonly quiet50: number;
  readonly p99: number;
  readonly quiet99: number;
  readonly allowed: number;
}

const COLUMNS = [
  ...['attack', 'asked by others', 'p50 quiet', 'meanwhile', 'ratio', 'p99 quiet', 'meanwhile', 'ratio', 'allowed'],
  ...['within', 'peak core', 'peak node', 'all'],
];

export function printHead(): void {
  write(COLUMNS);
  write(COLUMNS.map(() => '---'));
}

export function printAttack({ name, quiet, beside, answers, recovery }: Measured): void {
  const compared = Object.keys(beside.times).map((asked) => compare(asked, quiet, beside));
  const { core, node, all } = beside.peaks;
  const memory = [core, node, all].map((one) => `${one.toFixed()} MiB`);
  for (const [index, one] of compared.entries()) {
    const median = [one.quiet50.toFixed(1), one.p50.toFixed(1), times(one.p50 / one.quiet50)];
    const most = [one.quiet99.toFixed(1), one.p99.toFixed(1), times(one.p99 / one.quiet99), one.allowed.toFixed()];
    const within = one.p99 <= one.allowed ? 'yes' : '**no**';
    write([index === 0 ? name : '', one.asked, ...median, ...most, within, ...(index === 0 ? memory : ['', '', ''])]);
  }
  process.stderr.write(`  the attack was answered: ${answers}; others as before after ${recovery.toFixed()} s\n`);
  const failures = [...new Set(beside.failures)];
  if (failures.length > 0) process.stderr.write(`  others were answered: ${failures.join(', ')}\n`);

  const worst = compared.reduce((one, other) => (other.p99 / other.allowed > one.p99 / one.allowed ? other : one));
  const { asked, p99, quiet99, allowed } = worst;
  printRow({
    name: `${name}: others’ 99th percentile, the worst of five (${asked}); in quiet ${quiet99.toFixed(1)} ms`,
    value: p99,
    unit: 'ms',
    target: `≤ ${FACTOR} × quiet + ${MORE_MILLISECONDS} = ${allowed.toFixed()}`,
    pass: p99 <= allowed,
  });
  printRow(reported('the same as a multiple of quiet', p99 / quiet99, '×'));
  printRow(reported('seconds after it until others are answered as before', recovery, 's'));
  printRow(atMost('requests of others that failed meanwhile', beside.failures.length, '', 0));
  printRow(
    atMost(`peak of platform and workloads (core ${core.toFixed()}, node ${node.toFixed()})`, all, 'MiB', MEMORY_MIB),
  );
}

function compare(asked: string, quiet: Look, beside: Look): Compared {
  const [before = [], meanwhile = []] = [quiet.times[asked], beside.times[asked]];
  const quiet99 = percentile(before, 99);
  return {
    ...{ asked, quiet50: median(before), p50: median(meanwhile), quiet99, p99: percentile(meanwhile, 99) },
    allowed: FACTOR * quiet99 + MORE_MILLISECONDS,
  };
}

function write(cells: readonly string[]): void {
  process.stderr.write(`| ${cells.join(' | ')} |\n`);
}

function times(ratio: number): string {
  return `${ratio.toFixed(1)} ×`;
}
