// What the log page shows of a stream of lines: bounded, with a remark where lines are missing.
import type { LogEntry, LogEvent } from '@platform/contract';

/** A line with a number of its own, so that the page keeps what it has drawn. */
export interface ShownLine extends LogEntry {
  readonly key: number;
}

export interface ShownLog {
  /** Oldest first. */
  readonly lines: readonly ShownLine[];
  /** Cursor of the lines before these; `null` when there are none, or some between were let go. */
  readonly older: string | null;
  /** Whether lines were let go to keep the page light. */
  readonly shortened: boolean;
}

/** More lines would make the page slow. */
export const SHOWN_AT_MOST = 2_000;

export const emptyLog: ShownLog = { lines: [], older: null, shortened: false };

export function begun({ items, older }: LogEvent['data']): ShownLog {
  return { lines: numbered(items, 0), older: older ?? null, shortened: false };
}

/** The log with newer lines at its end; the oldest are let go where there are too many. */
export function withNewer(log: ShownLog, { items, missed }: LogEvent['data']): ShownLog {
  const first = items.at(0);
  const remark: LogEntry[] =
    missed > 0 && first !== undefined ? [{ at: first.at, stream: 'system', line: missing(missed) }] : [];
  const next = (log.lines.at(-1)?.key ?? -1) + 1;
  const lines = [...log.lines, ...numbered([...remark, ...items], next)];
  if (lines.length <= SHOWN_AT_MOST) return { ...log, lines };
  return { lines: lines.slice(-SHOWN_AT_MOST), older: null, shortened: true };
}

/** The log with older lines at its beginning. */
export function withOlder(log: ShownLog, items: readonly LogEntry[], older: string | null): ShownLog {
  const first = log.lines.at(0)?.key ?? 0;
  return { ...log, lines: [...numbered(items, first - items.length), ...log.lines], older };
}

function numbered(items: readonly LogEntry[], from: number): ShownLine[] {
  return items.map((item, index) => ({ ...item, key: from + index }));
}

function missing(lines: number): string {
  return lines === 1
    ? 'One line was removed before it could be shown.'
    : `${lines.toLocaleString('en')} lines were removed before they could be shown.`;
}
