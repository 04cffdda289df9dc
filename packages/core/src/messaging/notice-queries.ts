// The SQL of messages and requests that are to become notifications.
import type { InstallationId, NotificationId } from '@platform/contract';
import { type Selectable, sql } from 'kysely';
import { JobTable } from '../background/job-queries.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';

type NoticeRow = Selectable<DatabaseSchema['message_notices']>;
export type MessageNotice = Omit<NoticeRow, 'due_at' | 'attempts'>;

export const messageNotices = new JobTable<NotificationId>('message_notices', 'id');

export async function insertNotices(trx: Executor, notices: readonly Omit<NoticeRow, 'attempts'>[]): Promise<void> {
  await trx.insertInto('message_notices').values(notices).execute();
}

export async function selectNotice(db: Executor, id: NotificationId): Promise<MessageNotice | undefined> {
  return db
    .selectFrom('message_notices')
    .select(['id', 'account_key', 'conversation_id', 'occurred_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The app of the platform by which the account reads its messages; `undefined` where it was removed. */
export async function findMessagesApp(db: Executor, accountKey: string): Promise<InstallationId | undefined> {
  const { rows } = await sql<{ id: InstallationId }>`
    SELECT id FROM installed_apps WHERE account_key = ${accountKey} AND app_id = ${MESSAGES_APP}`.execute(db);
  return rows[0]?.id;
}

export const MESSAGES_APP = 'messages';
