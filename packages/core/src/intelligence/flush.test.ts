import assert from 'node:assert/strict';
import { test } from 'node:test';
import type pg from 'pg';
import { openFlush } from './flush.ts';

/** A FAKE pool whose writes end when the test says so. */
function heldPool() {
  const writes: PromiseWithResolvers<unknown>[] = [];
  const query = () => {
    const write = Promise.withResolvers<unknown>();
    writes.push(write);
    return write.promise;
  };
  return { writes, pool: { query } as unknown as pg.Pool };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('who comes while a write is under way waits for the next one, which all of them share', async () => {
  const { writes, pool } = heldPool();
  const flush = openFlush(pool);
  const ended: string[] = [];
  const first = flush().then(() => ended.push('first'));
  await turn();
  const later = [flush(), flush()].map((one) => one.then(() => ended.push('later')));
  await turn();
  assert.equal(writes.length, 1);
  writes[0]?.resolve(undefined);
  await first;
  await turn();
  assert.deepEqual([ended, writes.length], [['first'], 2]);
  writes[1]?.resolve(undefined);
  await Promise.all(later);
  assert.equal(writes.length, 2);
});

test('a write that fails fails those who wait for it, and no later ones', async () => {
  const { writes, pool } = heldPool();
  const flush = openFlush(pool);
  const first = flush();
  await turn();
  const later = flush();
  writes[0]?.reject(new Error('the database is away'));
  await assert.rejects(first, /the database is away/);
  await turn();
  writes[1]?.resolve(undefined);
  await later;
});
