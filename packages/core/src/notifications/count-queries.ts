// The SQL that counts notifications, for the operator's inventory.
import type { Kysely } from 'kysely';
import { rowCount } from '../database/row-count.ts';
import type { DatabaseSchema } from '../database/schema.ts';

/** Number of rows; PostgreSQL's estimate beyond 100,000. */
export function countNotifications(db: Kysely<DatabaseSchema>): Promise<number> {
  return rowCount(db, 'notifications');
}
