// The SQL of what people are to be notified of.
import type { NotificationId } from '@platform/contract';
import type { Insertable, Selectable } from 'kysely';
import { JobTable } from '../../background/job-queries.ts';
import type { DatabaseSchema, Executor } from '../../database/schema.ts';

export const contentNotices = new JobTable<NotificationId>('content_notices', 'id');

type NoticeRow = Selectable<DatabaseSchema['content_notices']>;

export async function insertNotices(
  trx: Executor,
  rows: readonly Insertable<DatabaseSchema['content_notices']>[],
): Promise<void> {
  await trx
    .insertInto('content_notices')
    .values([...rows])
    .execute();
}

export async function selectNotice(
  db: Executor,
  id: NotificationId,
): Promise<Pick<NoticeRow, 'account_key' | 'notice' | 'occurred_at'> | undefined> {
  return db
    .selectFrom('content_notices')
    .select(['account_key', 'notice', 'occurred_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}
