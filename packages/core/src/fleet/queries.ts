// All SQL of the inventory that belongs to no other domain.
import { type Kysely, sql } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

/** Size of the whole database on disk, in bytes. */
export async function databaseBytes(db: Kysely<DatabaseSchema>): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`SELECT pg_database_size(current_database())::text AS bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}
