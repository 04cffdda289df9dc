// Stores a notification of an installation and tells every replica, once for each dedupe key.
import { type NotificationId, notificationId, type RouteBody } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { FrontendCaller, InstallationCaller } from '../http/caller.ts';
import {
  findByDedupeKey,
  insertNotification,
  lockAccountNotifications,
  type NewNotification,
  type NotificationRow,
} from './queries.ts';

export interface Published {
  readonly record: NotificationRow;
  /** False when the installation had published this dedupe key before. */
  readonly created: boolean;
}

/** The grant for the topic was checked before, by the route table. */
export async function publishNotification(
  context: CoreContext,
  caller: FrontendCaller | InstallationCaller,
  body: RouteBody<'services.notifications.publish'>,
): Promise<Published> {
  const { accountKey } = caller;
  const notification = newNotification(context, caller, body);
  return await context.database.transaction().execute(async (trx) => {
    await lockAccountNotifications(trx, accountKey);
    const record = await insertNotification(trx, notification);
    if (record === undefined) return { record: await recordOf(trx, notification), created: false };
    await notify(trx, 'notification-published', { accountKey, notificationId: record.id, sequence: record.sequence });
    return { record, created: true };
  });
}

async function recordOf(
  trx: Parameters<typeof findByDedupeKey>[0],
  { installation_id, dedupe_key }: NewNotification,
): Promise<NotificationRow> {
  const found = dedupe_key === null ? undefined : await findByDedupeKey(trx, installation_id, dedupe_key);
  if (found === undefined) throw new Error('a notification was neither inserted nor found');
  return found;
}

function newNotification(
  context: CoreContext,
  { installationId, accountKey, appId }: FrontendCaller | InstallationCaller,
  body: RouteBody<'services.notifications.publish'>,
): NewNotification {
  const now = context.clock();
  const seconds = body.presentation?.expiresInSeconds;
  return {
    id: notificationIdOf(context),
    account_key: accountKey,
    installation_id: installationId,
    app_id: appId,
    topic: body.topic,
    title: body.title,
    body: body.body,
    priority: body.priority,
    presentation: body.presentation === undefined ? null : JSON.stringify(body.presentation),
    delivery: body.delivery,
    dedupe_key: body.dedupeKey ?? null,
    created_at: now,
    expires_at: seconds === undefined ? null : new Date(now.getTime() + seconds * 1000),
  };
}

function notificationIdOf(context: CoreContext): NotificationId {
  return notificationId.parse(newId('ntf', context));
}
