// How far the clocks of this machine and of PostgreSQL are apart, and whether the newest time on record lies ahead. Whether they
// differ so much that core holds its sweeps, every run of the doctor says.
import { limits } from '@platform/contract';
import { readClocks } from '@platform/core/examine';
import { withLocalCore } from '../../local/local-core.ts';
import type { Finding } from '../finding.ts';
import type { DeepCheck } from './deep-check.ts';

const CHECK = 'clock';
const TOLERANCE = limits.clockTolerance.value * 1_000;
/** Clocks that a time service keeps differ by less. */
const STEADY = 2_000;

export const clocks: DeepCheck = {
  name: 'Comparing clocks',
  async look(config) {
    const { databaseAheadMilliseconds, newest } = await withLocalCore(config, ({ database }) =>
      readClocks(database, () => new Date()),
    );
    return clockDifferences({ databaseAheadMilliseconds, newest, now: new Date() });
  },
};

interface Compared {
  readonly databaseAheadMilliseconds: number;
  readonly newest: Date | null;
  readonly now: Date;
}

const CURE = 'Set the clock, and have a time service keep it, such as systemd-timesyncd or chrony.';

export function clockDifferences({ databaseAheadMilliseconds: ahead, newest, now }: Compared): Finding[] {
  const apart = `PostgreSQL's clock is ${(Math.abs(ahead) / 1_000).toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} this machine's`;
  const findings: Finding[] = [];
  if (Math.abs(ahead) > STEADY)
    findings.push({ check: CHECK, verdict: Math.abs(ahead) > TOLERANCE ? 'bad' : 'warning', found: apart, cure: CURE });
  if (newest !== null && newest.getTime() > now.getTime() + STEADY)
    findings.push({
      check: CHECK,
      verdict: newest.getTime() > now.getTime() + TOLERANCE ? 'bad' : 'warning',
      found: `${now.toISOString()} is before ${newest.toISOString()}, the newest time on record`,
      cure: CURE,
    });
  if (findings.length > 0) return findings;
  const since = newest === null ? 'none is on record' : `the newest time on record is ${newest.toISOString()}`;
  return [{ check: CHECK, verdict: 'good', found: `${apart}; ${since}` }];
}
