// The SQL that counts search entries, for the operator's inventory and for what grants open.
import type { Opened } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import { rowCount } from '../database/row-count.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { countOpened } from '../opened.ts';

/** Number of rows; PostgreSQL's estimate beyond 100,000. */
export function countEntries(db: Kysely<DatabaseSchema>): Promise<number> {
  return rowCount(db, 'search_entries');
}

export function countEntriesOf(db: Kysely<DatabaseSchema>, installationId: string): Promise<Opened> {
  return countOpened(db, 'search-entries', sql`SELECT FROM search_entries WHERE installation_id = ${installationId}`);
}
