// Which tests may be skipped where everything is there that tests need (CI=true), and why.
import { readFileSync } from 'node:fs';

export interface Skip {
  /** From the root of the checkout. */
  readonly file: string;
  readonly test: string;
  /** The reason that the test gave; true when it gave none. */
  readonly said: string | boolean;
}

export interface AllowedSkip {
  readonly file: string;
  readonly test: string;
  readonly reason: string;
  /** Allowed for this user only. Default: for every user. */
  readonly as?: 'ordinary user';
}

export function readAllowedSkips(): readonly AllowedSkip[] {
  return JSON.parse(readFileSync(new URL('../../tests/allowed-skips.json', import.meta.url), 'utf8'));
}

export function skipsNotAllowed(
  skips: readonly Skip[],
  allowed: readonly AllowedSkip[],
  user: 'root' | 'ordinary user',
): Skip[] {
  const here = allowed.filter(({ as }) => as === undefined || as === user);
  return skips.filter((skip) => !here.some(({ file, test }) => file === skip.file && test === skip.test));
}
