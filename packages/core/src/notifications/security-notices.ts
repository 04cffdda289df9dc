// Security notices: what gave or took lasting power over an account is a notification of the platform itself to its owner.
// Nobody mutes it, and no app sees it or marks it read. It is written down in the transaction of what happened, and stored by a
// job after it: storing takes the lock of the account's notifications, which others take before rows that the
// transaction holds.
import { type NotificationId, notificationId, PLATFORM_SENDER } from '@platform/contract';
import type { JobKind } from '../background/jobs.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { Executor } from '../database/schema.ts';
import type { SecurityActor, SecurityEvent } from '../security-events.ts';
import { insertNotice, type SecurityNotice, securityNotices, selectNotice } from './notice-queries.ts';
import type { NewNotification } from './queries.ts';
import { noticeWords } from './security-words.ts';
import { storeWithin } from './store-notifications.ts';

const LEASE_MILLISECONDS = 20_000;

/** In the transaction of what happened. */
export async function queueNotice(
  context: Pick<CoreContext, 'clock' | 'random'>,
  trx: Executor,
  { accountKey, sessionId }: SecurityActor,
  event: SecurityEvent,
): Promise<void> {
  const id = notificationId.parse(newId('ntf', context));
  await insertNotice(trx, { id, account_key: accountKey, session_id: sessionId, event, occurred_at: context.clock() });
  await notify(trx, 'security-notice-queued', {});
}

export function publishingNotices(context: CoreContext): JobKind<NotificationId> {
  return {
    name: 'security notices',
    jobs: securityNotices,
    wakeOn: 'security-notice-queued',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const notice = await selectNotice(context.database, id);
      if (notice === undefined) return 'done';
      return async (trx) => {
        const { surplus } = await storeWithin(trx, context, [notificationOfNotice(notice)]);
        if (surplus > 0) context.count('platform_core_push_dropped_total', { reason: 'surplus' }, surplus);
      };
    },
  };
}

function notificationOfNotice({
  id,
  account_key,
  session_id,
  event,
  occurred_at,
}: Omit<SecurityNotice, 'due_at' | 'attempts'>): NewNotification {
  const { title, body, priority, action } = noticeWords(event);
  return {
    id,
    account_key,
    installation_id: null,
    app_id: PLATFORM_SENDER,
    topic: 'security',
    title,
    body,
    priority,
    presentation: {
      mode: 'card',
      tone: 'warning',
      layout: 'standard',
      actions: [
        {
          id: 'review',
          label: action.label,
          type: 'open-app',
          style: 'primary',
          // The shell does not draw attention to it in the session that did it.
          target: `?settings/${action.page}&by=${session_id}`,
        },
      ],
    },
    delivery: 'inbox-and-web-push',
    dedupe_key: null,
    created_at: occurred_at,
    expires_at: null,
  };
}
