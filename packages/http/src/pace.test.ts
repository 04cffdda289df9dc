import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPace, openPaces } from './pace.ts';

test('a caller that draws refusals now and then never waits for one', () => {
  let now = 0;
  const pace = openPace(() => now);
  for (let second = 0; second < 100; second += 1) {
    for (let refusal = 0; refusal < 20; refusal += 1) assert.equal(pace.next(), 0);
    now += 1_000;
  }
});

test('connections at full speed are held to a fraction of what they could draw', () => {
  let now = 0;
  const pace = openPace(() => now);
  // Each asks again as soon as it was refused, for 20 s.
  const connections = Array.from({ length: 64 }, () => 0);
  let refusals = 0;
  for (; now < 20_000; now += 1) {
    for (const [connection, until] of connections.entries()) {
      if (now < until) continue;
      refusals += 1;
      connections[connection] = now + Math.max(1, pace.next());
    }
  }
  assert.ok(refusals / 20 < 150, `${refusals / 20} each second`);
});

test('a refusal is delayed by two seconds at most, and half a minute without requests resets the delay', () => {
  let now = 0;
  const pace = openPace(() => now);
  for (let refusal = 0; refusal < 100_000; refusal += 1) assert.ok(pace.next() <= 2_000);
  now += 30_000;
  assert.equal(pace.next(), 0);
});

test('refusals given together count as many, and each caller has its own', () => {
  const paces = openPaces(() => 0);
  assert.equal(paces.next('loud', 500), 2_000);
  assert.equal(paces.next('quiet'), 0);
  assert.equal(paces.next('loud'), 2_000);
});

test('of very many callers the ones that have drawn none for longest are forgotten', () => {
  const paces = openPaces(() => 0);
  paces.next('first', 500);
  paces.next('second', 500);
  for (let caller = 0; caller < 9_998; caller += 1) paces.next(`${caller}`);
  assert.equal(paces.next('first'), 2_000);
  paces.next('one more');
  assert.equal(paces.next('second'), 0);
  assert.equal(paces.next('first'), 2_000);
});

test('a caller may be allowed more refusals', () => {
  const pace = openPace(() => 0, 1_000);
  for (let refusal = 0; refusal < 1_000; refusal += 1) assert.equal(pace.next(), 0);
  assert.equal(pace.next(), 5);
});
