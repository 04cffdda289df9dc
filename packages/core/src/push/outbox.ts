// Puts messages into the outbox in the transaction that stores their notification, and takes back what was read: what
// is accepted is delivered, whatever is killed in between.
import { limits, PLATFORM_SENDER, type PushPayload } from '@platform/contract';
import type { Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import { keyedHash, seal, unseal } from '../credentials/master-key.ts';
import { notify } from '../database/notify.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { selectAppNames } from '../installations/face.ts';
import type { NotificationRow } from '../notifications/face.ts';
import { composeMessage, urgencies } from './compose-message.ts';
import {
  deleteMessagesOf,
  insertMessages,
  lockSubscriptionsOf,
  type MessageRow,
  type NewMessage,
} from './outbox-queries.ts';

const PURPOSE = 'push-message';
/** As the shell names the platform where it speaks itself. */
const PLATFORM_NAME = 'Account security';
/** RFC 8030, section 5.4: at most 32 characters of base64url. */
const TOPIC_BYTES = 24;

/** What the outbox needs of the context. */
export type OutboxContext = Pick<CoreContext, 'config' | 'clock' | 'masterKey' | 'random'>;

/**
 * Queues one message per record and browser of its account, unless the record requests no push or its owner wants none.
 *
 * @param records new ones, in their order
 * @param onlyWanted those of some records whose owner wants them pushed
 * @returns how many messages were given up for them, as the oldest of too many
 */
export async function enqueuePush(
  trx: Transaction<DatabaseSchema>,
  context: OutboxContext,
  records: readonly NotificationRow[],
  onlyWanted: (
    trx: Transaction<DatabaseSchema>,
    records: readonly NotificationRow[],
  ) => Promise<readonly NotificationRow[]>,
): Promise<number> {
  const pushed = records.filter(({ delivery }) => delivery === 'inbox-and-web-push');
  if (pushed.length === 0 || context.config.vapidSubject === null) return 0;
  const now = context.clock();
  const accountKeys = [...new Set(pushed.map(({ account_key }) => account_key))];
  const subscribed = await lockSubscriptionsOf(trx, accountKeys, now);
  const browsers = Map.groupBy(subscribed, ({ account_key }) => account_key);
  if (browsers.size === 0) return 0;
  const wanted = await onlyWanted(
    trx,
    pushed.filter(({ account_key }) => browsers.has(account_key)),
  );
  if (wanted.length === 0) return 0;
  const names = await appNamesOf(trx, wanted);
  const messages = wanted.flatMap((record) => {
    const ids = (browsers.get(record.account_key) ?? []).map(({ id }) => id);
    return messagesOf(context, { record, ids, appName: names.get(appKeyOf(record)) ?? record.app_id, now });
  });
  const surplus = await insertMessages(trx, messages, { waiting: limits.pushWaiting.value, now });
  await notify(trx, 'push-queued', {});
  return surplus;
}

/** By `appKeyOf`; an app that was removed meanwhile has none. */
async function appNamesOf(
  trx: Transaction<DatabaseSchema>,
  records: readonly NotificationRow[],
): Promise<Map<string, string | null>> {
  const apps = distinct(records, appKeyOf);
  const names = await selectAppNames(
    trx,
    apps.map(({ account_key: accountKey, app_id: appId }) => ({ accountKey, appId })),
  );
  return new Map(
    apps.map((app, place) => [appKeyOf(app), app.app_id === PLATFORM_SENDER ? PLATFORM_NAME : (names[place] ?? null)]),
  );
}

function appKeyOf({ account_key, app_id }: NotificationRow): string {
  return `${account_key}\0${app_id}`;
}

/** One record for each key. */
function distinct(records: readonly NotificationRow[], keyOf: (record: NotificationRow) => string): NotificationRow[] {
  return [...new Map(records.map((record) => [keyOf(record), record])).values()];
}

interface Addressed {
  readonly record: NotificationRow;
  readonly appName: string;
  /** Of subscriptions. */
  readonly ids: readonly string[];
  readonly now: Date;
}

function messagesOf({ masterKey, random }: OutboxContext, { record, ids, appName, now }: Addressed): NewMessage[] {
  const payload = Buffer.from(JSON.stringify(composeMessage(record, appName)));
  return ids.map((id) => ({
    subscription_id: id,
    notification_id: record.id,
    topic: topicOf(masterKey, id, record),
    urgency: urgencies[record.priority],
    sealed: seal(masterKey, PURPOSE, placeOf(id, record.id), payload, random),
    expires_at: expiryOf(record, now),
  }));
}

/** Withdraws the queued messages of notifications that were read. */
export async function withdrawPush(
  trx: Transaction<DatabaseSchema>,
  notificationIds: readonly string[],
): Promise<void> {
  if (notificationIds.length > 0) await deleteMessagesOf(trx, notificationIds);
}

/** What a waiting message says. @throws Error when it was changed or sealed with another key */
export function openMessage(
  masterKey: Buffer,
  { subscription_id, notification_id, sealed }: Pick<MessageRow, 'subscription_id' | 'notification_id' | 'sealed'>,
): PushPayload {
  const plain = unseal(masterKey, PURPOSE, placeOf(subscription_id, notification_id), sealed);
  return JSON.parse(plain.toString('utf8')) as PushPayload;
}

function placeOf(subscriptionId: string, notificationId: string): string {
  return `${subscriptionId}/${notificationId}`;
}

/** Different for each browser, so that push services cannot link the browsers of an account. */
function topicOf(masterKey: Buffer, subscriptionId: string, record: NotificationRow): string | null {
  if (record.dedupe_key === null) return null;
  const value = `${subscriptionId}\0${record.installation_id}\0${record.dedupe_key}`;
  return keyedHash(masterKey, 'push-topic', value).subarray(0, TOPIC_BYTES).toString('base64url');
}

function expiryOf({ expires_at }: NotificationRow, now: Date): Date {
  const longest = now.getTime() + limits.pushLifeSeconds.value * 1000;
  return new Date(Math.min(expires_at?.getTime() ?? longest, longest));
}
