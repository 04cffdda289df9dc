// What a provider reports of the tokens of one answer: of several reports the largest of each member counts.
import { listOf, member, type TokenMembers } from '../dialect.ts';

/** A provider that reports more than this for one call is not believed. */
const MOST_TOKENS = 100_000_000;
const TOTAL = 'total_tokens';

export interface Reported {
  /** 0 where it was not reported, as for all members. */
  readonly input: number;
  readonly output: number;
  readonly total: number;
}

export interface Reports {
  /** @param answer a whole answer, or one event of it */
  read(answer: unknown): void;
  sum(): Reported;
}

export function openReports({ input, output }: TokenMembers): Reports {
  const largest = new Map<string, number>([...input.flat(), ...output.flat(), TOTAL].map((name) => [name, 0]));

  function keep(name: string, tokens: number): void {
    largest.set(name, Math.max(largest.get(name) ?? 0, tokens));
  }

  function keepReport(report: unknown): void {
    for (const name of largest.keys()) keep(name, tokensOf(member(report, name)));
    // Steps that the sums beside them need not have.
    const steps = listOf(member(report, 'iterations'));
    for (const name of steps.length === 0 ? [] : largest.keys())
      keep(name, believed(steps.reduce<number>((sum, step) => sum + tokensOf(member(step, name)), 0)));
  }

  /** Names in one list are those of the same member in different versions. */
  function sumOf(members: TokenMembers['input']): number {
    return members.reduce((sum, names) => sum + Math.max(...names.map((name) => largest.get(name) ?? 0)), 0);
  }

  return {
    read(answer) {
      for (const report of reportsIn(answer)) keepReport(report);
    },
    sum: () => ({ input: sumOf(input), output: sumOf(output), total: largest.get(TOTAL) ?? 0 }),
  };
}

/** Where providers put it: in the answer or event itself, in what the event holds, or in one of several answers. */
function reportsIn(answer: unknown): unknown[] {
  const holders = [
    answer,
    ...['response', 'message', 'delta', 'x_groq'].map((name) => member(answer, name)),
    ...listOf(member(answer, 'choices')),
  ];
  return holders.map((holder) => member(holder, 'usage')).filter((usage) => usage !== undefined);
}

/** 0 for what is no number of tokens. */
function tokensOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? believed(value) : 0;
}

function believed(tokens: number): number {
  return tokens <= MOST_TOKENS ? tokens : 0;
}
