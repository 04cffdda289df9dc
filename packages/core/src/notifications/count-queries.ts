// The SQL that counts notifications, for the operator's inventory and for what grants open.
import type { Opened } from '@platform/contract';
import { type Kysely, sql } from 'kysely';
import { rowCount } from '../database/row-count.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { countOpened } from '../opened.ts';
import { selectVisible } from './queries.ts';

/** Number of rows; PostgreSQL's estimate beyond 100,000. */
export function countNotifications(db: Kysely<DatabaseSchema>): Promise<number> {
  return rowCount(db, 'notifications');
}

/** Those that an app sent and that are kept. */
export function countSentBy(db: Kysely<DatabaseSchema>, installationId: string): Promise<Opened> {
  return countOpened(db, 'notifications', sql`SELECT FROM notifications WHERE installation_id = ${installationId}`);
}

/** Those that an app with these topics sees. */
export function countSeen(
  db: Kysely<DatabaseSchema>,
  visible: { readonly accountKey: string; readonly topics: readonly string[] },
): Promise<Opened> {
  return countOpened(db, 'notifications', sql`${selectVisible(db, visible).select('id')}`);
}
