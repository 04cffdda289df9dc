// Times as people read them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, count, isOlder, shortVersion } from './words.ts';

const now = new Date('2026-11-21T12:00:00.000Z');

for (const [timestamp, words] of [
  ['2026-11-21T11:59:30.000Z', 'just now'],
  ['2026-11-21T12:00:20.000Z', 'just now'],
  ['2026-11-21T11:57:00.000Z', '3 minutes ago'],
  ['2026-11-21T09:00:00.000Z', '3 hours ago'],
  ['2026-11-20T11:00:00.000Z', 'yesterday'],
  ['2026-11-01T12:00:00.000Z', 'November 1, 2026'],
] as const) {
  test(`${timestamp} is ${words}`, () => assert.equal(ago(timestamp, now), words));
}

test('counts have their plural, versions lose their build part', () => {
  assert.equal(count(1, 'restart'), '1 restart');
  assert.equal(count(2, 'restart'), '2 restarts');
  assert.equal(shortVersion('1.2.3-rc.1+7a37a364f45e'), '1.2.3-rc.1');
});

test('a version is older by its numbers, not by its letters', () => {
  for (const [older, newer] of [
    ['1.0.0', '2.0.0'],
    ['1.9.0', '1.10.0'],
    ['1.0.9', '1.0.10'],
  ] as const) {
    assert.ok(isOlder(older, newer));
    assert.ok(!isOlder(newer, older));
  }
  assert.ok(!isOlder('1.0.0', '1.0.0'));
  assert.ok(!isOlder('1.0.0+abc', '1.0.0'));
});
