// All SQL of jobs: each kind has a table of its domain, with a row for each job until it is done.
import { type Generated, sql } from 'kysely';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

/** `due_at`: when it is tried next; while one works on it, when another may. `attempts`: failures in a row, and this one. */
interface JobColumns {
  due_at: Date;
  attempts: Generated<number>;
}

type JobTableName = {
  [Name in keyof DatabaseSchema]: DatabaseSchema[Name] extends JobColumns ? Name : never;
}[keyof DatabaseSchema];

export interface Job<Id extends string> {
  readonly id: Id;
  /** How often it was tried since it last got on, this time included. */
  readonly attempts: number;
}

/**
 * A table of jobs. It is declared in the queries of the domain that owns the table, which adds the rows itself, in the
 * transaction that makes them necessary, and sends the signal that wakes the worker.
 */
export class JobTable<Id extends string> {
  readonly #table: JobTableName;
  readonly #key: string;

  /** @param key the column that identifies a job, its primary key */
  constructor(table: JobTableName, key: string) {
    this.#table = table;
    this.#key = key;
  }

  /** Takes jobs that are due, until `until`. */
  async claim(
    db: Executor,
    { now, until, atMost }: { readonly now: Date; readonly until: Date; readonly atMost: number },
  ): Promise<Job<Id>[]> {
    const [table, key] = this.#names();
    const { rows } = await sql<Job<Id>>`
      UPDATE ${table} SET due_at = ${until}, attempts = attempts + 1
       WHERE ${key} IN (
         SELECT ${key} FROM ${table} WHERE due_at <= ${now} ORDER BY due_at LIMIT ${atMost} FOR UPDATE SKIP LOCKED)
      RETURNING ${key} AS id, attempts`.execute(db);
    return rows;
  }

  /** When the next one can be claimed; `null` without any. */
  async nextDue(db: Executor): Promise<Date | null> {
    const [table] = this.#names();
    const { rows } = await sql<{ at: Date | null }>`SELECT min(due_at) AS at FROM ${table}`.execute(db);
    return rows[0]?.at ?? null;
  }

  /** @param attempts default: those of the claim */
  async postpone(db: Executor, id: Id, { dueAt, attempts }: { dueAt: Date; attempts?: number }): Promise<void> {
    const [table, key] = this.#names();
    await sql`
      UPDATE ${table} SET due_at = ${dueAt}, attempts = coalesce(${attempts ?? null}, attempts)
       WHERE ${key} = ${id}`.execute(db);
  }

  /** @returns false when it has ended already */
  async end(trx: Executor, id: Id): Promise<boolean> {
    const [table, key] = this.#names();
    const { numAffectedRows } = await sql`DELETE FROM ${table} WHERE ${key} = ${id}`.execute(trx);
    return numAffectedRows === 1n;
  }

  #names() {
    return [sql.table(this.#table), sql.ref(this.#key)] as const;
  }
}
