// Who gets the next connection of a pool that has none left.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type pg from 'pg';
import { type TestDatabase, testDatabase } from '../../../../tests/support/postgres.ts';
import { FairPool, nowOnBehalfOf, onBehalfOf } from './fair-pool.ts';

let place: TestDatabase;
before(async () => {
  place = await testDatabase();
});
after(() => place.drop());

function openPool(patience = 60_000): FairPool {
  return new FairPool({ connectionString: place.url, max: 2, connectionTimeoutMillis: patience });
}

/** Takes both connections. @returns what gives them back */
async function takeAll(pool: FairPool): Promise<pg.PoolClient[]> {
  return Promise.all([pool.connect(), pool.connect()]);
}

test('a caller with many queries waits behind itself, and callers take turns', async () => {
  const pool = openPool();
  const held = await takeAll(pool);
  const order: string[] = [];
  const ask = (caller: string, times: number) =>
    Array.from({ length: times }, () =>
      onBehalfOf(caller, async () => {
        await pool.query('SELECT 1');
        order.push(caller);
      }),
    );
  const asked = [...ask('loud', 20), ...ask('quiet', 2), ...ask('other', 1)];
  assert.equal(pool.awaited, 23);
  // One connection for all, so that their order is that of the turns.
  held[0]?.release();
  await Promise.all(asked);
  assert.deepEqual(order.slice(0, 6), ['loud', 'quiet', 'other', 'loud', 'quiet', 'loud']);
  assert.equal(pool.awaited, 0);
  held[1]?.release();
  await pool.end();
});

test('work that learns whom it is for counts for that caller', async () => {
  const pool = openPool();
  const held = await takeAll(pool);
  const order: string[] = [];
  const asked = ['a', 'a', 'b'].map((caller) =>
    onBehalfOf('network', async () => {
      nowOnBehalfOf(caller);
      await (await pool.connect()).release();
      order.push(caller);
    }),
  );
  held[0]?.release();
  await Promise.all(asked);
  assert.deepEqual(order, ['a', 'b', 'a']);
  held[1]?.release();
  await pool.end();
});

test('who waits for too long gets an error, and its turn goes to the next', async () => {
  const pool = openPool(500);
  // To connect may take longer than that.
  pool.options.connectionTimeoutMillis = 60_000;
  const held = await takeAll(pool);
  await assert.rejects(pool.query('SELECT 1'), /timeout exceeded/);
  assert.equal(pool.awaited, 0);
  for (const client of held) client.release();
  assert.equal((await pool.query('SELECT 1')).rowCount, 1);
  await pool.end();
});

test('a connection that cannot be made leaves no hole', async () => {
  const pool = new FairPool({
    connectionString: 'postgres://nobody@127.0.0.1:1/x',
    max: 1,
    connectionTimeoutMillis: 60_000,
  });
  for (let time = 0; time < 3; time += 1) await assert.rejects(pool.query('SELECT 1'), /ECONNREFUSED/);
  const both = await Promise.allSettled([pool.query('SELECT 1'), pool.query('SELECT 1')]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await pool.end();
});
