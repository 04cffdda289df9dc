// Promises of counting descriptors: the limit is read as the kernel writes it, and a part near its limit is named.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { limitOf, verdictOf } from './descriptors.ts';

test('the limit of a process is read from what the kernel says of it', () => {
  assert.ok(limitOf(readFileSync('/proc/self/limits', 'utf8')) > 10);
  const lines = (soft: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   524288   files\n`;
  assert.deepEqual([limitOf(lines('1024')), limitOf(lines('unlimited'))], [1_024, Number.POSITIVE_INFINITY]);
});

test('a part that is near its limit is named, and one with plenty is not', () => {
  for (const [open, limit, verdict] of [
    [10, 1_024, undefined],
    [10, Number.POSITIVE_INFINITY, undefined],
    [600, 1_024, 'warning'],
    [10, 256, 'warning'],
    [1_000, 1_024, 'bad'],
  ] as const) {
    const [finding] = verdictOf('Core', { open, limit });
    assert.equal(finding?.verdict, verdict, `${open} of ${limit}`);
    if (finding !== undefined) assert.match(finding.found, new RegExp(`Core has ${open} .*may have ${limit}`));
  }
});
