// Publishes a notification of an installation, once for each dedupe key. What is published while a transaction is being
// written waits for the next one and shares it: a signal makes PostgreSQL commit one transaction after the other, so
// one for each notification would be as fast as the disk.
import { type NotificationId, notificationId, type RouteBody, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
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

interface Waiting {
  readonly notification: NewNotification;
  readonly stored: (published: Published) => void;
  readonly failed: (error: unknown) => void;
}

/** Resolves each notification when it is durable. */
export function notificationPublisher(context: CoreContext): Publish {
  const queue: Waiting[] = [];
  let running = 0;

  function begin(): void {
    while (running < TRANSACTIONS && queue.length > 0) {
      running += 1;
      void storeTogether(context, queue.splice(0, MOST_TOGETHER)).finally(() => {
        running -= 1;
        begin();
      });
    }
  }

  return function publish(caller, body) {
    return new Promise((stored, failed) => {
      queue.push({ notification: newNotification(context, caller, body), stored, failed });
      begin();
    });
  };
}

/** Settles every one of them; none of them fails for another's fault. */
async function storeTogether(context: CoreContext, waiting: readonly Waiting[]): Promise<void> {
  try {
    const published = await storeNotifications(
      context,
      waiting.map(({ notification }) => notification),
    );
    for (const [index, one] of published.entries()) waiting[index]?.stored(one);
  } catch (error) {
    const [only, ...others] = waiting;
    // Nothing was stored: retry one by one, so that only the faulty one is refused.
    if (others.length > 0) for (const one of waiting) await storeTogether(context, [one]);
    // The installation may have been removed since its credential was looked up.
    else only?.failed(isMissingReference(error) ? refuse('unauthenticated') : error);
  }
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
