import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPace } from './pace.ts';

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

test('a refusal is delayed by two seconds at most, and a minute without requests resets the delay', () => {
  let now = 0;
  const pace = openPace(() => now);
  for (let refusal = 0; refusal < 10_000; refusal += 1) assert.ok(pace.next() <= 2_000);
  now += 600_000;
  assert.equal(pace.next(), 0);
});
