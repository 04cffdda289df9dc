// The SQL of what happened in the wallet and is to become a notification.
import { type InstallationId, type NotificationId, notificationId } from '@platform/contract';
import { type Selectable, sql } from 'kysely';
import { JobTable } from '../background/job-queries.ts';
import type { CoreContext } from '../context.ts';
import { newId } from '../credentials/ids.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema, Executor } from '../database/schema.ts';
import type { WalletEvent } from './notices.ts';

export type WalletNotice = Omit<Selectable<DatabaseSchema['wallet_notices']>, 'due_at' | 'attempts'>;

export const walletNotices = new JobTable<NotificationId>('wallet_notices', 'id');

export const WALLET_APP = 'wallet';

/** In the transaction of what happened. */
export async function queueNotice(
  context: Pick<CoreContext, 'clock' | 'random'>,
  trx: Executor,
  accountKey: string,
  event: WalletEvent,
): Promise<void> {
  const now = context.clock();
  const id = notificationId.parse(newId('ntf', context));
  await trx
    .insertInto('wallet_notices')
    .values({ id, account_key: accountKey, event: JSON.stringify(event), occurred_at: now, due_at: now })
    .execute();
  await notify(trx, 'wallet-notice-queued', {});
}

export function selectNotice(db: Executor, id: NotificationId): Promise<WalletNotice | undefined> {
  return db
    .selectFrom('wallet_notices')
    .select(['id', 'account_key', 'event', 'occurred_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The Wallet of the account; `undefined` where it was removed. */
export async function findWalletApp(db: Executor, accountKey: string): Promise<InstallationId | undefined> {
  const { rows } = await sql<{ id: InstallationId }>`
    SELECT id FROM installed_apps WHERE account_key = ${accountKey} AND app_id = ${WALLET_APP}`.execute(db);
  return rows[0]?.id;
}
