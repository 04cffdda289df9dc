// Which streams have so many small pieces that they wait for their turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PieceCount } from './piece-count.ts';

function counting() {
  let now = 0;
  const count = new PieceCount(() => now);
  return {
    count,
    after(milliseconds: number, pieces: number): boolean {
      now += milliseconds;
      for (let piece = 0; piece < pieces; piece += 1) count.add();
      return count.areTooMany();
    },
  };
}

test('a few hundred pieces at once are free, more are too many', () => {
  assert.equal(counting().after(0, 256), false);
  assert.equal(counting().after(0, 257), true);
});

test('a piece in each millisecond is free for ever', () => {
  const { after } = counting();
  for (let second = 0; second < 100; second += 1) assert.equal(after(200, 200), false);
});

test('who had too many is free again after a quarter of a second', () => {
  const { after } = counting();
  assert.equal(after(0, 10_000), true);
  assert.equal(after(1, 10), true);
  assert.equal(after(256, 256), false);
});

test('asking begins the count anew', () => {
  const { count, after } = counting();
  for (let piece = 0; piece < 7; piece += 1) count.add();
  assert.equal(count.recent, 7);
  after(0, 0);
  assert.equal(count.recent, 0);
  assert.equal(count.areTooMany(), false);
});
