// The half second in which presses on a prompt do not count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPressGuard, GUARD_MS, STREAK_MS } from './guard.ts';

test('presses count once the time has passed, and not a moment earlier', () => {
  let now = 1_000;
  const pressAfter = (wait: number) => {
    now = 1_000;
    const guard = createPressGuard(() => now);
    now += wait;
    return guard.press();
  };
  assert.deepEqual([0, GUARD_MS - 1, GUARD_MS].map(pressAfter), [false, false, true]);
});

test('after the focus came back the time begins anew', () => {
  let now = 0;
  const guard = createPressGuard(() => now);
  now = 5_000;
  guard.arm();
  now += GUARD_MS - 1;
  assert.equal(guard.press(), false);
  now += GUARD_MS;
  assert.equal(guard.press(), true);
});

test('quick presses that began before the prompt do not come to count while they go on, and the person is heard at last', () => {
  let now = 0;
  const guard = createPressGuard(() => now);
  const counted: number[] = [];
  for (; now < 2 * STREAK_MS; now += 150) if (guard.press()) counted.push(now);
  assert.ok((counted[0] ?? 0) >= STREAK_MS && (counted[0] ?? 0) < STREAK_MS + 150, String(counted[0]));
});
