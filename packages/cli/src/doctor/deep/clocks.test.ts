// Promises of comparing clocks: what a time service leaves is nothing, seconds are said, and minutes are a fault.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockDifferences } from './clocks.ts';

const now = new Date('2026-11-28T12:00:00Z');
const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);

for (const [ahead, newest, verdicts] of [
  [0, null, ['good']],
  [-1_500, later(-86_400), ['good']],
  [30_000, later(-1), ['warning']],
  [-400_000, later(-1), ['bad']],
  [0, later(60), ['warning']],
  [0, later(86_400), ['bad']],
  [400_000, later(86_400), ['bad', 'bad']],
] as const)
  test(`PostgreSQL ${ahead} ms ahead, and ${newest?.toISOString() ?? 'nothing'} on record: ${verdicts}`, () => {
    const found = clockDifferences({ databaseAheadMilliseconds: ahead, newest, now });
    assert.deepEqual(
      found.map(({ verdict }) => verdict),
      verdicts,
    );
    for (const { verdict, cure } of found) assert.equal(cure === undefined, verdict === 'good');
  });
