// What `platform doctor --deep` looks at, besides what every run does.
import type { PlatformConfig } from '@platform/core/config';
import type { Finding } from '../finding.ts';

export interface DeepCheck {
  /** Shown while it goes on. */
  readonly name: string;
  /** @param show how far it is, for a person who waits */
  look(config: PlatformConfig, show: (howFar: string) => void): Promise<Finding[]>;
}

/** As many of one kind are named one by one. */
const NAMED = 20;

/** The findings, of which too many are counted instead. */
export function named(findings: readonly Finding[]): Finding[] {
  const [first] = findings;
  if (findings.length <= NAMED || first === undefined) return [...findings];
  const rest = { check: first.check, verdict: first.verdict, found: `and ${findings.length - NAMED} more like these` };
  return [...findings.slice(0, NAMED), rest];
}

/** @param noun of one thing */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
