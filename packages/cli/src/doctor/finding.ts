// One line of `platform doctor`, and the last one.
import { StartError } from '@platform/core/start';

export type Verdict = 'good' | 'warning' | 'bad';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was found. */
  readonly found: string;
  /** What to do; only when the verdict is not good. */
  readonly cure?: string;
}

/** Whether what kept the doctor from looking is no fault: the next start, or a moment, ends it. */
export function isPassing(error: unknown): boolean {
  return error instanceof StartError && ['platform_starting', 'database_older'].includes(error.code);
}

/** The worst of all findings; `good` where all are. */
export function worstOf(verdicts: Iterable<Verdict>): Verdict {
  let worst: Verdict = 'good';
  for (const verdict of verdicts) {
    if (verdict === 'bad') return 'bad';
    if (verdict === 'warning') worst = 'warning';
  }
  return worst;
}

/** What all of it comes to. Only where nothing is amiss is the machine called ready. */
export const SUMMARY: Readonly<Record<Verdict, string>> = {
  good: 'This machine is ready.',
  warning: 'The platform can run. What is marked ! above limits it.',
  bad: 'The platform, or a part of it, does not work until what is marked ✗ above is fixed.',
};
