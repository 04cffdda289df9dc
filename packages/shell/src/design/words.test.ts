// Times as people read them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, count, shortVersion } from './words.ts';

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
