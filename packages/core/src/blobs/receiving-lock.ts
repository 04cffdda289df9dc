// Keeps a starting replica from deleting what another one is receiving: meanwhile that one holds a shared
// advisory lock of PostgreSQL, which is released even if its process is killed.
import type pg from 'pg';

/** Any constant will do, as long as every replica uses the same one. */
const LOCK_KEY = 7_305_808_869_231_651;

/** One for each pool: all bodies that a replica receives share one lock, and so one connection. */
const held = new WeakMap<pg.Pool, { receptions: number; readonly client: Promise<pg.PoolClient> }>();

/** Runs `work` while no replica sweeps. */
export async function whileReceiving<Result>(pool: pg.Pool, work: () => Promise<Result>): Promise<Result> {
  const lock = held.get(pool) ?? { receptions: 0, client: takeShared(pool) };
  held.set(pool, lock);
  lock.receptions += 1;
  try {
    await lock.client;
    return await work();
  } finally {
    lock.receptions -= 1;
    if (lock.receptions === 0) {
      held.delete(pool);
      // Ending the connection releases the lock, also when the connection is the thing that is broken.
      await lock.client.then(
        (client) => client.release(true),
        () => undefined,
      );
    }
  }
}

async function takeShared(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  // A lost connection loses the lock; the worst that follows is that a body is refused when it is committed.
  client.on('error', () => undefined);
  try {
    await client.query('SELECT pg_advisory_lock_shared($1)', [LOCK_KEY]);
    return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Runs `work` unless any replica receives; whoever begins to waits until it is done. */
export async function unlessReceiving(pool: pg.Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  client.on('error', () => undefined);
  try {
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [LOCK_KEY]);
    if (rows[0]?.free === true) await work();
  } finally {
    client.release(true);
  }
}
