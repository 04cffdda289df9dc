// What notifications add to an export: all that the inbox has, newest first, and how they reach the person.
import { limits } from '@platform/contract';
import { type AccountFile, everyRow, jsonFile, jsonLines } from '../account-files.ts';
import type { CoreContext } from '../context.ts';
import { listNotifications, type NotificationRow, notificationOf } from './queries.ts';
import { readNotificationSettings } from './settings.ts';

export async function* notificationFiles(context: CoreContext, accountKey: string): AsyncGenerator<AccountFile> {
  yield jsonFile('notification-settings.json', await readNotificationSettings(context.database, accountKey));
  yield* jsonLines('notifications', everyNotification(context, accountKey));
}

async function* everyNotification({ database }: CoreContext, accountKey: string) {
  const all = { accountKey, topics: null };
  const rows = everyRow((last: NotificationRow | undefined) => {
    const page = { unread: false, before: last?.sequence, limit: limits.pageMaximum.value };
    return listNotifications(database, all, page);
  });
  for await (const row of rows) yield notificationOf(row);
}
