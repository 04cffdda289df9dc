// All SQL of named leases, for work that one replica at a time does. The end of a lease identifies its holder: a
// replica that was too slow finds another end in the row, so it no longer holds the lease.
import type pg from 'pg';
import type { Executor } from '../database/schema.ts';

/** No lease ends, and no work is due, so long after the end of another that is taken now. */
const FARTHEST_AHEAD = 86_400_000;

/**
 * Takes the lease until `until` if it is free by `due`, or was taken by a clock that was far ahead and has been set back. To renew, a holder passes its current end as `due`.
 *
 * @returns whether the caller holds it now
 */
export async function takeNamedLease(
  pool: pg.Pool,
  name: string,
  { due, until }: { readonly due: Date; readonly until: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO periodic_tasks AS task (name, next_at) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET next_at = $2 WHERE task.next_at <= $3 OR task.next_at > $4`,
    [name, until, due, new Date(until.getTime() + FARTHEST_AHEAD)],
  );
  return rowCount === 1;
}

/** Gives back the lease held until `until`; it can be taken again from `next` on. No effect when it was taken over. */
export async function endNamedLease(
  pool: pg.Pool,
  name: string,
  { until, next }: { readonly until: Date; readonly next: Date },
): Promise<void> {
  await pool.query('UPDATE periodic_tasks SET next_at = $3 WHERE name = $1 AND next_at = $2', [name, until, next]);
}

/**
 * Whether the lease is still held until `until`. Locks it, so that no other replica takes it during the transaction.
 */
export async function isNamedLeaseHeld(trx: Executor, name: string, until: Date): Promise<boolean> {
  const row = await trx
    .selectFrom('periodic_tasks')
    .select('name')
    .where('name', '=', name)
    .where('next_at', '=', until)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** When the lease can be taken; `null` for one that was never taken. */
export async function namedLeaseDue(pool: pg.Pool, name: string): Promise<Date | null> {
  const { rows } = await pool.query<{ next_at: Date }>('SELECT next_at FROM periodic_tasks WHERE name = $1', [name]);
  return rows[0]?.next_at ?? null;
}
