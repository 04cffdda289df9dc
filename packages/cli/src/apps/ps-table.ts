// The tables of `platform ps`: the parts of the platform, then one line for each backend where the terminal is wide
// enough, else two short ones.
import { plainLine, sizeText, type WorkloadUse } from '@platform/contract';
import type { PartState } from '../supervisor/kept-part.ts';
import { type Colour, paint } from '../terminal/terminal.ts';

export interface PsRow {
  readonly id: string;
  readonly account: string;
  readonly appId: string;
  readonly version: string;
  readonly node: string | null;
  /** `null` before its node said anything; `unknown` when its node does not answer; `paused` with its account. */
  readonly state: string | null;
  readonly since: string | null;
  readonly reason: string | null;
  readonly restarts: number | null;
  readonly lastExit: { readonly at: string; readonly reason: string } | null;
  readonly usage: WorkloadUse | null;
}

const COLOURS: Readonly<Record<string, Colour>> = {
  running: 'green',
  starting: 'yellow',
  failed: 'red',
  unknown: 'red',
  paused: 'dim',
};
/** Narrower terminals get two lines for each backend. */
const WIDE = 100;

interface Cells {
  readonly name: string;
  readonly version: string;
  readonly node: string;
  readonly state: string;
  readonly since: string;
  readonly cpu: string;
  readonly memory: string;
  readonly restarts: string;
}

const HEAD: Cells = {
  name: 'BACKEND',
  version: 'VERSION',
  node: 'NODE',
  state: 'STATE',
  since: 'SINCE',
  cpu: 'CPU',
  memory: 'MEMORY',
  restarts: 'RESTARTS',
};
const COLUMNS = Object.keys(HEAD) as (keyof Cells)[];
const RIGHT: readonly (keyof Cells)[] = ['since', 'cpu', 'memory', 'restarts'];

/** One line for each part: since when it runs, and how often it was restarted and why. */
export function partLines(
  parts: readonly PartState[],
  { width, now }: { readonly width: number; readonly now: Date },
): string[] {
  const size = Math.max(0, ...parts.map(({ name }) => name.length));
  return parts.map(({ name, pid, since, restarts, lastExit }) => {
    const state = pid === null ? 'restarting' : 'running';
    const ago = age(now.getTime() - new Date(since).getTime());
    const times = restarts === 0 ? '' : `, restarted ${restarts === 1 ? 'once' : `${restarts} times`}`;
    const why = lastExit === null ? '' : `. Last exit: ${plainLine(lastExit)}`;
    const line = cut(`${name.padEnd(size)}  ${state} for ${ago}${times}${why}`, width);
    return line.replace(state, paint(pid === null ? 'yellow' : 'green', state));
  });
}

/** @param width Columns of the terminal; infinite for a file or a pipe, where nothing is cut. */
export function psLines(
  rows: readonly PsRow[],
  { width, now }: { readonly width: number; readonly now: Date },
): string[] {
  if (rows.length === 0) return ['No installed app has a backend.'];
  return width < WIDE ? narrow(rows, width, now) : wide(rows, width, now);
}

function wide(rows: readonly PsRow[], width: number, now: Date): string[] {
  const cells = rows.map((row) => cellsOf(row, now));
  const widths = new Map(
    COLUMNS.map((column) => [column, Math.max(...[HEAD, ...cells].map((one) => one[column].length))]),
  );
  const padded = (one: Cells, column: keyof Cells) => {
    const size = widths.get(column) ?? 0;
    return RIGHT.includes(column) ? one[column].padStart(size) : one[column].padEnd(size);
  };
  const taken = [...widths.values()].reduce((sum, size) => sum + size + 2, 0);
  const line = (one: Cells, last: string, colour: Colour | undefined) =>
    [...COLUMNS.map((column) => coloured(padded(one, column), column, colour)), cut(last, width - taken)]
      .join('  ')
      .trimEnd();
  return [
    paint('dim', line(HEAD, 'REASON', undefined)),
    ...rows.map((row, index) => line(cells[index] ?? HEAD, whyOf(row), COLOURS[row.state ?? ''])),
  ];
}

function narrow(rows: readonly PsRow[], width: number, now: Date): string[] {
  return rows.flatMap((row) => {
    const { name, version, state, since, cpu, memory } = cellsOf(row, now);
    const used = row.usage === null ? '' : `, ${cpu} cpu, ${memory}`;
    const ago = since === '' ? '' : ` ${since}`;
    const title = cut(`${name} ${version}`, width);
    const facts = cut(`  ${state}${ago}${used}`, width);
    const why = whyOf(row);
    return [
      paint('bold', title),
      facts.replace(state, coloured(state, 'state', COLOURS[row.state ?? ''])),
      ...(why === '' ? [] : [paint('dim', cut(`  ${why}`, width))]),
    ];
  });
}

function coloured(text: string, column: keyof Cells, colour: Colour | undefined): string {
  return column === 'state' && colour !== undefined ? paint(colour, text) : text;
}

function cellsOf({ account, appId, version, node, state, since, restarts, usage }: PsRow, now: Date): Cells {
  return {
    name: plainLine(`${account}/${appId}`),
    version: plainLine(version),
    node: plainLine(node ?? '-'),
    state: plainLine(state ?? 'unplaced'),
    since: since === null ? '' : age(now.getTime() - new Date(since).getTime()),
    cpu: usage === null ? '' : usage.cpu.share === null ? '?' : `${Math.round(usage.cpu.share * 100)} %`,
    memory: usage === null ? '' : usage.memory.bytes === null ? '?' : sizeText(usage.memory.bytes),
    restarts: String(restarts ?? 0),
  };
}

/** One line, whatever the reason holds: what a workload wrote may be in it, control characters included. */
function whyOf({ reason, lastExit, state }: PsRow): string {
  const atRest = state === 'running' || state === 'stopped';
  const text = reason ?? (atRest || lastExit === null ? '' : lastExit.reason);
  return plainLine(text);
}

/** `42 s`, `5 min`, `3 h`, `12 d`. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 2 ? '' : `${text.slice(0, width - 1)}…`;
}
