// That no cell is forgotten, whatever the engine does meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openCellPool } from './cell-pool.ts';
import type { Cell } from './cells.ts';

interface Making {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** A pool of cells that are made, or fail, when the test says so. */
function scriptedPool() {
  const making: Making[] = [];
  const destroyed: number[] = [];
  const failures: unknown[] = [];
  const make = () => {
    const { promise, resolve, reject } = Promise.withResolvers<Cell>();
    const index = making.length;
    // Only what the pool asks of a cell.
    const cell = { stands: async () => true, destroy: async () => void destroyed.push(index) } as Partial<Cell> as Cell;
    making.push({ resolve: () => resolve(cell), reject });
    return promise;
  };
  return { pool: openCellPool(make, (error) => failures.push(error)), making, destroyed, failures };
}

test('a spare that is made while the one before it fails is closed with the pool', async () => {
  const { pool, making, destroyed, failures } = scriptedPool();
  pool.refill();
  const taken = pool.take();
  pool.refill();
  making[0]?.reject(new Error('the engine died'));
  making[1]?.resolve();
  await turn();
  making[2]?.resolve();
  await taken;
  await pool.close();
  assert.equal(failures.length, 1);
  assert.deepEqual(destroyed, [1]);
});

test('after one that failed the next is made when asked for', async () => {
  const { pool, making, destroyed } = scriptedPool();
  pool.refill();
  making[0]?.reject(new Error('no room'));
  await turn();
  pool.refill();
  assert.equal(making.length, 2);
  making[1]?.resolve();
  await pool.close();
  assert.deepEqual(destroyed, [1]);
});

test('a closed pool makes no spare', async () => {
  const { pool, making } = scriptedPool();
  await pool.close();
  pool.refill();
  assert.equal(making.length, 0);
});
