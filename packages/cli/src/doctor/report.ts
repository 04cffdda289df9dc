// How a finding is printed.
import { plainText } from '@platform/contract';
import { type Colour, paint, say } from '../terminal/terminal.ts';
import { type Finding, SUMMARY, type Verdict } from './finding.ts';

const MARKS: Readonly<Record<Verdict, readonly [string, Colour]>> = {
  good: ['✓', 'green'],
  warning: ['!', 'yellow'],
  bad: ['✗', 'red'],
};

export function report({ check, verdict, found, cure }: Finding): void {
  const [mark, colour] = MARKS[verdict];
  // Names of files and answers of others are foreign text.
  say(`${paint(colour, mark)} ${check.padEnd(12)} ${plainText(found)}`);
  if (cure !== undefined) say(`  ${' '.repeat(12)} ${paint('dim', '→')} ${plainText(cure)}`);
}

/** What all findings come to. */
export function summaryOf(worst: Verdict): string {
  return paint(MARKS[worst][1], SUMMARY[worst]);
}
