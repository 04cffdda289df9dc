// All SQL of named leases: work that one replica at a time does, known by a name instead of a row of its own. What a
// lease ends at is what holds it, so that whoever was too slow finds another one there.
import type pg from 'pg';
import type { Executor } from '../database/schema.ts';

/** Returns whether it was due by `due`, and is held until `until` now. A holder that renews passes its own end as `due`. */
export async function takeNamedLease(
  pool: pg.Pool,
  name: string,
  { due, until }: { readonly due: Date; readonly until: Date },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `INSERT INTO periodic_tasks AS task (name, next_at) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET next_at = $2 WHERE task.next_at <= $3`,
    [name, until, due],
  );
  return rowCount === 1;
}

/** Gives a lease back that is held until `until`: it can be taken from `next` on. */
export async function endNamedLease(
  pool: pg.Pool,
  name: string,
  { until, next }: { readonly until: Date; readonly next: Date },
): Promise<void> {
  await pool.query('UPDATE periodic_tasks SET next_at = $3 WHERE name = $1 AND next_at = $2', [name, until, next]);
}

/** Whether the lease is still held until `until`; nobody else takes it before the transaction ends. */
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

/** When it can be taken; `null` for one that was never taken. */
export async function namedLeaseDue(pool: pg.Pool, name: string): Promise<Date | null> {
  const { rows } = await pool.query<{ next_at: Date }>('SELECT next_at FROM periodic_tasks WHERE name = $1', [name]);
  return rows[0]?.next_at ?? null;
}
