// Notifications of the platform about collections. They are written down in the transaction of what happened, and stored by a job
// after it: storing takes locks that others take before the rows of the change.
import { type NotificationId, notificationId, PLATFORM_SENDER } from '@platform/contract';
import type { JobKind } from '../../background/jobs.ts';
import type { CoreContext } from '../../context.ts';
import { newId } from '../../credentials/ids.ts';
import { notify } from '../../database/notify.ts';
import type { Executor } from '../../database/schema.ts';
import { storeWithin } from '../../notifications/face.ts';
import { contentNotices, insertNotices, selectNotice } from './notice-queries.ts';

export type ContentNotice =
  | { readonly kind: 'invited'; readonly by: string; readonly collection: string }
  /** The owner of a collection deleted their account. */
  | { readonly kind: 'owner-deleted'; readonly owner: string; readonly until: string };

const LEASE_MILLISECONDS = 20_000;

export async function queueNotices(
  context: Pick<CoreContext, 'clock' | 'random'>,
  trx: Executor,
  accountKeys: readonly string[],
  notice: ContentNotice,
): Promise<void> {
  if (accountKeys.length === 0) return;
  const now = context.clock();
  const rows = accountKeys.map((accountKey) => ({
    id: notificationId.parse(newId('ntf', context)),
    account_key: accountKey,
    notice: JSON.stringify(notice),
    ...{ occurred_at: now, due_at: now },
  }));
  await insertNotices(trx, rows);
  await notify(trx, 'content-noticed', {});
}

export function publishingContentNotices(context: CoreContext): JobKind<NotificationId> {
  return {
    name: 'notices of collections',
    jobs: contentNotices,
    wakeOn: 'content-noticed',
    slots: 2,
    leaseMilliseconds: LEASE_MILLISECONDS,
    async run({ id }) {
      const row = await selectNotice(context.database, id);
      if (row === undefined) return 'done';
      const { account_key, notice, occurred_at } = row;
      const { title, body } = wordsOf(notice);
      return async (trx) => {
        const { surplus } = await storeWithin(trx, context, [
          {
            ...{ id, account_key, installation_id: null, app_id: PLATFORM_SENDER, topic: 'content', title, body },
            priority: 'normal',
            presentation: {
              ...{ mode: 'card', tone: 'neutral', layout: 'standard' },
              actions: [
                {
                  id: 'review',
                  label: 'Review',
                  type: 'open-app',
                  style: 'primary',
                  target: '?settings/sharing&by=others',
                },
              ],
            },
            delivery: 'inbox-and-web-push',
            ...{ dedupe_key: null, created_at: occurred_at, expires_at: null },
          },
        ]);
        if (surplus > 0) context.count('platform_core_push_dropped_total', { reason: 'surplus' }, surplus);
      };
    },
  };
}

function wordsOf(notice: ContentNotice): { readonly title: string; readonly body: string } {
  if (notice.kind === 'invited')
    return {
      title: `${notice.by} wants to share “${shortened(notice.collection)}” with you`,
      body: 'Accept or decline in Settings → Sharing.',
    };
  return {
    title: `What ${notice.owner} shared with you ends on ${notice.until}`,
    body: 'Their account was deleted. Until then your apps can read it; copy what you want to keep.',
  };
}

/** A title is one line on a phone. */
function shortened(name: string): string {
  const characters = [...name];
  return characters.length <= 60 ? name : `${characters.slice(0, 59).join('')}…`;
}
