// Tables on standard output, for people.
import { plainLine } from '@platform/contract';
import { say } from './terminal.ts';

/** Prints the rows below the headings, each column as wide as its longest cell. Cells are plain text of one line. */
export function sayTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const table = [headings, ...rows.map((row) => row.map((cell) => plainLine(cell)))];
  const widths = headings.map((_heading, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  for (const row of table)
    say(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
