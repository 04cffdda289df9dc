// The half second in which presses on a prompt do not count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPressGuard, GUARD_MS } from './guard.ts';

test('presses count once the time has passed, and not a moment earlier', () => {
  let now = 1_000;
  const guard = createPressGuard(() => now);
  assert.equal(guard.isOpen(), false);
  now += GUARD_MS - 1;
  assert.equal(guard.isOpen(), false);
  now += 1;
  assert.equal(guard.isOpen(), true);
});

test('after the focus came back the time begins anew', () => {
  let now = 0;
  const guard = createPressGuard(() => now);
  now = 5_000;
  guard.arm();
  assert.equal(guard.isOpen(), false);
  now += GUARD_MS;
  assert.equal(guard.isOpen(), true);
});
