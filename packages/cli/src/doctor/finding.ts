// One line of `platform doctor`.

export type Verdict = 'good' | 'warning' | 'bad';

export interface Finding {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was found. */
  readonly found: string;
  /** What to do; only when the verdict is not good. */
  readonly cure?: string;
}
