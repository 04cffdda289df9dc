// How the lines of a log lie on the disk: one JSON object on each line, numbered.
import type { LogEntry } from '@platform/contract';

export interface StoredLine extends LogEntry {
  /** Counts up for each installation; what a page's cursor and a stream's position name. */
  readonly n: number;
}

/** @param most of the last lines. Default: all */
export function parseLines(text: string, most = Number.POSITIVE_INFINITY): StoredLine[] {
  // Behind the last line break there is nothing, or a line that was cut.
  return text
    .split('\n')
    .slice(-most - 1)
    .flatMap((line) => {
      if (line === '') return [];
      try {
        // Written by the log store; a line cut by a crash fails here and is left out.
        return [JSON.parse(line) as StoredLine];
      } catch {
        return [];
      }
    });
}
