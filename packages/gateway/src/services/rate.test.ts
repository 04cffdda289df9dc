import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRate } from './rate.ts';

test('the burst passes at once, then as many as the rate says; a refusal costs nothing', () => {
  let now = 0;
  const rate = openRate({ perMinute: 60, burst: 3 }, () => now);
  assert.deepEqual([rate.take(), rate.take(), rate.take(), rate.take(), rate.take()], [null, null, null, 1, 1]);
  now = 500;
  assert.equal(rate.take(), 0.5);
  now = 1_000;
  assert.deepEqual([rate.take(), rate.take()], [null, 1]);
  now = 1_000_000;
  assert.deepEqual([rate.take(), rate.take(), rate.take(), rate.take()], [null, null, null, 1]);
});

test('a change of the rate gives no tokens', () => {
  let now = 0;
  const rate = openRate({ perMinute: 60, burst: 1 }, () => now);
  assert.equal(rate.take(), null);
  rate.change({ perMinute: 120, burst: 100 });
  assert.equal(rate.take(), 0.5);
  now = 60_000;
  rate.change({ perMinute: 60, burst: 2 });
  assert.deepEqual([rate.take(), rate.take(), rate.take()], [null, null, 1]);
});
