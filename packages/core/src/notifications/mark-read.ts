// Marks notifications read and notifies every replica.
import { type NotificationId, refuse } from '@platform/contract';
import type { CoreContext } from '../context.ts';
import { notify } from '../database/notify.ts';
import { withdrawPush } from '../push/face.ts';
import {
  findVisible,
  lockAccountNotifications,
  markRead,
  type NotificationPlace,
  type NotificationRow,
  selectUnreadAt,
  type Visibility,
} from './queries.ts';

/** A signal holds less than 8,000 bytes, PostgreSQL's limit; an id with its quotes takes 43. */
const IDS_IN_A_SIGNAL = 150;

/** @throws RefusalError `not_found` for a record that the caller does not see */
export async function markOneRead(
  context: CoreContext,
  visibility: Visibility,
  id: NotificationId,
): Promise<NotificationRow> {
  const record = await mark(context, visibility, [id], (trx) => findVisible(trx, visibility, id));
  if (record === undefined) throw refuse('not_found');
  return record;
}

/** @returns how many were unread */
export async function markAllRead(context: CoreContext, visibility: Visibility): Promise<number> {
  return await mark(context, visibility, 'all', async (_trx, ids) => ids.length);
}

/** Those by which an app announced what the person has since seen in it. */
export async function markReadAt(context: CoreContext, accountKey: string, place: NotificationPlace): Promise<void> {
  const ids = await selectUnreadAt(context.database, accountKey, place);
  // Mostly there are none, and no lock is needed.
  if (ids.length > 0) await mark(context, { accountKey, topics: null }, ids, async () => undefined);
}

type Transaction = Parameters<typeof markRead>[0];

async function mark<Result>(
  context: CoreContext,
  visibility: Visibility,
  which: readonly NotificationId[] | 'all',
  answer: (trx: Transaction, ids: NotificationId[]) => Promise<Result>,
): Promise<Result> {
  const { accountKey } = visibility;
  const now = context.clock();
  return await context.database.transaction().execute(async (trx) => {
    // One order for all writers, so that two of them never wait for each other's rows.
    await lockAccountNotifications(trx, [accountKey]);
    const ids = await markRead(trx, visibility, which, now);
    await withdrawPush(trx, ids);
    for (let at = 0; at < ids.length; at += IDS_IN_A_SIGNAL) {
      await notify(trx, 'notifications-read', { accountKey, ids: ids.slice(at, at + IDS_IN_A_SIGNAL) });
    }
    return await answer(trx, ids);
  });
}
