// The SQL of security notices that are to become notifications.
import type { NotificationId } from '@platform/contract';
import type { Kysely, Selectable } from 'kysely';
import { JobTable } from '../background/job-queries.ts';
import type { DatabaseSchema } from '../database/schema.ts';

export type SecurityNotice = Selectable<DatabaseSchema['security_notices']>;

export const securityNotices = new JobTable<NotificationId>('security_notices', 'id');

export async function insertNotice(
  trx: Kysely<DatabaseSchema>,
  { event, ...notice }: Omit<SecurityNotice, 'due_at' | 'attempts'>,
): Promise<void> {
  await trx
    .insertInto('security_notices')
    .values({ ...notice, event: JSON.stringify(event), due_at: notice.occurred_at })
    .execute();
}

export async function selectNotice(
  db: Kysely<DatabaseSchema>,
  id: NotificationId,
): Promise<Omit<SecurityNotice, 'due_at' | 'attempts'> | undefined> {
  return await db
    .selectFrom('security_notices')
    .select(['id', 'account_key', 'session_id', 'event', 'occurred_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}
