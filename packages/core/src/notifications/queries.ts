// All SQL of notifications.
import type { InstallationId, Notification, NotificationId } from '@platform/contract';
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type pg from 'pg';
import type { CoreContext } from '../context.ts';
import { notifyCall } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;
/** A notification as it is stored. */
export type NotificationRow = Selectable<DatabaseSchema['notifications']>;
/** One before it is stored. */
export type NewNotification = Omit<NotificationRow, 'sequence' | 'read_at'>;

/**
 * The records of an account that a caller may see: the shell all of them, an app those of apps on topics it may read. Those of
 * the platform itself are for the person, and no app hides them by marking them read.
 */
export interface Visibility {
  readonly accountKey: string;
  /** Patterns of the grant `notifications.read`; `null` for everything. */
  readonly topics: readonly string[] | null;
}

/** The records that a caller may see. */
export function selectVisible(database: Database, { accountKey, topics }: Visibility) {
  const own = database.selectFrom('notifications').where('account_key', '=', accountKey);
  return topics === null ? own : own.where('installation_id', 'is not', null).where(matchesTopic(topics));
}

/** The rule of `matchesResource` in SQL. */
function matchesTopic(patterns: readonly string[]) {
  const { exact, prefixes } = splitPatterns(patterns);
  return sql<boolean>`(topic = ANY(${exact}::text[])
    OR EXISTS (SELECT FROM unnest(${prefixes}::text[]) AS prefix WHERE starts_with(topic, prefix)))`;
}

function splitPatterns(patterns: readonly string[]): { readonly exact: string[]; readonly prefixes: string[] } {
  return {
    exact: patterns.filter((pattern) => !pattern.endsWith('*')),
    prefixes: patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1)),
  };
}

/**
 * Serialises writes to the notifications of accounts, so that sequences become visible in order: a reader that has seen
 * a number has seen all lower ones. Accounts are locked in a fixed order, so that transactions cannot deadlock.
 */
export async function lockAccountNotifications(
  trx: Transaction<DatabaseSchema>,
  accountKeys: readonly string[],
): Promise<void> {
  const keys = sortedAccounts(accountKeys);
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(key, 4207)) FROM unnest(${keys}::text[]) AS key`.execute(trx);
}

function sortedAccounts(accountKeys: readonly string[]): string[] {
  return [...new Set(accountKeys)].sort();
}

/**
 * Inserts under the locks of `lockAccountNotifications`, which the same statement takes first: the filter is
 * evaluated before the first record gets its number. Also notifies every replica, once for each account: a stream that
 * is woken reads all that is new. One parameter holds all notifications, so that the statement is the same for any
 * number of them.
 */
function insertStatement(notifications: readonly NewNotification[]) {
  const keys = sortedAccounts(notifications.map(({ account_key }) => account_key));
  return sql<NotificationRow>`
    WITH locked AS MATERIALIZED (
      SELECT pg_advisory_xact_lock(hashtextextended(key, 4207)) FROM unnest(${keys}::text[]) AS key),
    inserted AS (
    INSERT INTO notifications (id, account_key, installation_id, app_id, topic, title, body, priority, presentation,
                               delivery, dedupe_key, created_at, expires_at)
    SELECT id, account_key, installation_id, app_id, topic, title, body, priority, presentation,
           delivery, dedupe_key, created_at, expires_at
      FROM jsonb_to_recordset(${JSON.stringify(notifications)}::jsonb) AS new (
             id text, account_key text, installation_id text, app_id text, topic text, title text, body text,
             priority text, presentation jsonb, delivery text, dedupe_key text, created_at timestamptz,
             expires_at timestamptz)
     WHERE (SELECT count(*) FROM locked) > 0
    ON CONFLICT (installation_id, dedupe_key) DO NOTHING
    RETURNING *),
    notified AS MATERIALIZED (
      SELECT ${published} FROM inserted GROUP BY account_key)
    SELECT inserted.* FROM inserted WHERE (SELECT count(*) FROM notified) > 0`;
}

/** @returns the inserted ones; for the others the installation already has a record with their dedupe key */
export async function insertNotifications(
  trx: Transaction<DatabaseSchema>,
  notifications: readonly NewNotification[],
): Promise<NotificationRow[]> {
  return (await insertStatement(notifications).execute(trx)).rows;
}

/** Stores notifications in a transaction of their own, and prepared, because planning takes longer than storing a few records. */
export async function insertNotificationsAlone(
  { pool, database }: Pick<CoreContext, 'pool' | 'database'>,
  notifications: readonly NewNotification[],
): Promise<NotificationRow[]> {
  const { sql: text, parameters } = insertStatement(notifications).compile(database);
  const prepared = { name: 'insert-notifications', text, values: [...parameters] };
  return (await pool.query<NotificationRow>(prepared)).rows;
}

const published = notifyCall('notification-published', {
  accountKey: sql`account_key`,
  sequence: sql`max(sequence)::text`,
});

/** The records that installations have under these dedupe keys. */
export async function findByDedupeKeys(
  database: Database,
  notifications: readonly Pick<NewNotification, 'installation_id' | 'dedupe_key'>[],
): Promise<NotificationRow[]> {
  const installations = notifications.map(({ installation_id }) => installation_id);
  const keys = notifications.map(({ dedupe_key }) => dedupe_key);
  return await database
    .selectFrom('notifications')
    .selectAll()
    .where(
      sql<boolean>`(installation_id, dedupe_key) IN (SELECT * FROM unnest(${installations}::text[], ${keys}::text[]))`,
    )
    .execute();
}

export interface ListSelection {
  readonly topic?: string | undefined;
  readonly unread: boolean;
  /** Only records before this sequence; absent for the newest. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of visible records, newest first. */
export async function listNotifications(
  database: Database,
  visibility: Visibility,
  { topic, unread, before, limit }: ListSelection,
): Promise<NotificationRow[]> {
  let query = selectVisible(database, visibility).selectAll();
  if (topic !== undefined) query = query.where('topic', '=', topic);
  if (unread) query = query.where('read_at', 'is', null);
  if (before !== undefined) query = query.where('sequence', '<', before);
  return await query.orderBy('sequence', 'desc').limit(limit).execute();
}

const LIST_AFTER = `
SELECT * FROM notifications
 WHERE account_key = $1 AND sequence > $2
   AND ($3::boolean OR installation_id IS NOT NULL AND (topic = ANY($4::text[])
        OR EXISTS (SELECT FROM unnest($5::text[]) AS prefix WHERE starts_with(topic, prefix))))
 ORDER BY sequence LIMIT $6`;

/** Visible records after a sequence, oldest first. Prepared, since every live stream runs it at every signal. */
export async function listAfter(
  pool: pg.Pool,
  { accountKey, topics }: Visibility,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<NotificationRow[]> {
  const { exact, prefixes } = splitPatterns(topics ?? []);
  const { rows } = await pool.query<NotificationRow>({
    name: 'list-notifications-after',
    text: LIST_AFTER,
    values: [accountKey, after, topics === null, exact, prefixes, limit],
  });
  return rows;
}

/** The newest sequence of the account, `0` before its first notification. */
export async function newestSequence(database: Database, accountKey: string): Promise<string> {
  const row = await database
    .selectFrom('notifications')
    .select('sequence')
    .where('account_key', '=', accountKey)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.sequence ?? '0';
}

/** One record; `undefined` when it does not exist or is not visible to the caller. */
export async function findVisible(
  database: Database,
  visibility: Visibility,
  id: NotificationId,
): Promise<NotificationRow | undefined> {
  return await selectVisible(database, visibility).selectAll().where('id', '=', id).executeTakeFirst();
}

/** Where a notification leads: the target of an action of it, in the app that published it. */
export interface NotificationPlace {
  readonly installationId: InstallationId;
  readonly target: string;
}

/** The unread ones that lead to a place. */
export async function selectUnreadAt(
  database: Database,
  accountKey: string,
  { installationId, target }: NotificationPlace,
): Promise<NotificationId[]> {
  const leadsThere = JSON.stringify({ actions: [{ target }] });
  const rows = await database
    .selectFrom('notifications')
    .select('id')
    .where('account_key', '=', accountKey)
    .where('read_at', 'is', null)
    .where('installation_id', '=', installationId)
    .where(sql<boolean>`presentation @> ${leadsThere}::jsonb`)
    .execute();
  return rows.map(({ id }) => id);
}

/** Marks visible unread records read: some, or all of them. @returns their ids */
export async function markRead(
  trx: Transaction<DatabaseSchema>,
  visibility: Visibility,
  which: readonly NotificationId[] | 'all',
  now: Date,
): Promise<NotificationId[]> {
  const unread = selectVisible(trx, visibility).select('id').where('read_at', 'is', null);
  const rows = await trx
    .updateTable('notifications')
    .set({ read_at: now })
    .where('id', 'in', which === 'all' ? unread : unread.where('id', 'in', which))
    .where('read_at', 'is', null)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The given records that are visible to the caller. */
export async function onlyVisible(
  database: Database,
  visibility: Visibility,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await selectVisible(database, visibility)
    .select('id')
    .where(sql<boolean>`id = ANY(${ids}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
}

/** The visible records up to a sequence that were marked read most recently. */
export async function lastRead(
  database: Database,
  visibility: Visibility,
  { upTo, limit }: { readonly upTo: string; readonly limit: number },
): Promise<string[]> {
  const rows = await selectVisible(database, visibility)
    .select('id')
    .where('sequence', '<=', upTo)
    .where('read_at', 'is not', null)
    .orderBy('read_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** The wire shape of a record. */
export function notificationOf(row: NotificationRow): Notification {
  return {
    id: row.id,
    appId: row.app_id,
    topic: row.topic,
    title: row.title,
    body: row.body,
    priority: row.priority,
    presentation: row.presentation,
    delivery: row.delivery,
    dedupeKey: row.dedupe_key,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    readAt: row.read_at?.toISOString() ?? null,
  };
}
