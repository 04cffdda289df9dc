// How many rows a table has, at a cost that does not grow with them.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from './schema.ts';

const COUNTED = 100_000;

/** Exact up to 100,000; beyond that what PostgreSQL's statistics say, never less than 100,000. */
export async function rowCount(db: Kysely<DatabaseSchema>, table: keyof DatabaseSchema): Promise<number> {
  const { rows } = await sql<{ counted: number; estimate: number }>`
    SELECT (SELECT count(*) FROM (SELECT FROM ${sql.table(table)} LIMIT ${COUNTED}) AS first)::integer AS counted,
           (SELECT reltuples FROM pg_class WHERE oid = ${table}::regclass)::double precision AS estimate`.execute(db);
  const { counted = 0, estimate = 0 } = rows[0] ?? {};
  return counted < COUNTED ? counted : Math.max(counted, Math.round(estimate));
}
