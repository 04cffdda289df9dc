// Publishes a notification of an installation, once for each dedupe key. What is published while a transaction is being
// written waits for the next one and shares it: a signal makes PostgreSQL commit one transaction after the other, so
// one for each notification would be as fast as the disk. Accounts have equal parts of a transaction.
import { type NotificationId, notificationId, type RouteBody, refuse } from '@platform/contract';
import { Together } from '../background/together.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { onBehalfOf } from '../database/fair-pool.ts';
import { isMissingReference } from '../database/missing-reference.ts';
import type { FrontendCaller, InstallationCaller } from '../installations/face.ts';
import type { NewNotification } from './queries.ts';
import { type Published, storeNotifications } from './store-notifications.ts';

/** In one transaction. */
const MOST_TOGETHER = 200;
/** Transactions at the same time: one that waits for the lock of an account does not hold up the others. */
const TRANSACTIONS = 3;

/** The grant for the topic is checked before, by the route table. */
export type Publish = (
  caller: FrontendCaller | InstallationCaller,
  body: RouteBody<'services.notifications.publish'>,
) => Promise<Published>;

/** Resolves each notification when it is durable. */
export function notificationPublisher(context: CoreContext): Publish {
  const together = new Together<NewNotification, Published>({
    ownerOf: () => '',
    shares: { of: ({ account_key }) => account_key, groups: TRANSACTIONS - 1 },
    keyOf: ({ id }) => id,
    groups: TRANSACTIONS,
    most: MOST_TOGETHER,
    // A transaction of many accounts waits for a connection in the line of none of them.
    work: (notifications) => onBehalfOf('notifications.publish', () => storeNotifications(context, notifications)),
    // Retried one by one, so that only the faulty one is refused.
    didNothing: () => true,
  });
  return async (caller, body) => {
    try {
      return await together.add(newNotification(context, caller, body));
    } catch (error) {
      // The installation may have been removed since its credential was looked up.
      throw isMissingReference(error) ? refuse('unauthenticated') : error;
    }
  };
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
    presentation: body.presentation ?? null,
    delivery: body.delivery,
    dedupe_key: body.dedupeKey ?? null,
    created_at: now,
    expires_at: seconds === undefined ? null : new Date(now.getTime() + seconds * 1000),
  };
}

function notificationIdOf(context: CoreContext): NotificationId {
  return notificationId.parse(newId('ntf', context));
}
