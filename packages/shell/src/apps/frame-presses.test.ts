// A press counts if it was in the frame in front, and for one thing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFramePresses } from './frame-presses.ts';

function bench() {
  const state = { now: 0, active: false };
  const presses = createFramePresses(
    () => state.now,
    () => state.active,
  );
  state.now = 60_000;
  return { state, presses };
}

test('without a press there is none', () => {
  const { presses } = bench();
  assert.equal(presses.take(), false);
});

test('a press in the frame counts once', () => {
  const { state, presses } = bench();
  state.active = true;
  assert.deepEqual([presses.take(), presses.take()], [true, false]);
  state.now += 4_999;
  assert.equal(presses.take(), false);
  state.now += 1;
  assert.equal(presses.take(), true);
});

for (const what of ['pressed', 'changed'] as const)
  test(`a press is not the frame's while the browser may mean another: ${what}`, () => {
    const { state, presses } = bench();
    state.active = true;
    presses[what]();
    for (const after of [0, 1, 4_998]) {
      state.now += after;
      assert.equal(presses.take(), false);
    }
    state.now += 1;
    assert.equal(presses.take(), true);
  });
