// Stores notifications of any accounts in one transaction and notifies every replica.
import type { Kysely, Transaction } from 'kysely';
import type { CoreContext } from '../context.ts';
import type { DatabaseSchema } from '../database/schema.ts';
import { enqueuePush, type OutboxContext } from '../push/face.ts';
import {
  findByDedupeKeys,
  insertNotifications,
  insertNotificationsAlone,
  type NewNotification,
  type NotificationRow,
} from './queries.ts';
import { allowedSurfaces } from './settings.ts';

export interface Published {
  readonly record: NotificationRow;
  /** False when the installation had published this dedupe key before. */
  readonly created: boolean;
}

/** @returns one for each notification, in their order; all are durable, or none is and it throws */
export async function storeNotifications(
  context: OutboxContext & Pick<CoreContext, 'pool' | 'database' | 'count' | 'at'>,
  notifications: readonly NewNotification[],
): Promise<Published[]> {
  // One statement is a transaction of its own, and saves the way for beginning and ending one.
  if (notifications.every(isPlain)) {
    const stored = await insertOrFind(context.database, notifications, (rest) =>
      insertNotificationsAlone(context, rest),
    );
    await context.at('notifications.publish.committed');
    return stored;
  }
  const { stored, surplus } = await context.database.transaction().execute(async (trx) => {
    const outcome = await storeWithin(trx, context, notifications);
    await context.at('notifications.publish.committing');
    return outcome;
  });
  await context.at('notifications.publish.committed');
  // Only now are they gone: what is rolled back was not given up.
  if (surplus > 0) context.count('platform_core_push_dropped_total', { reason: 'surplus' }, surplus);
  return stored;
}

/**
 * The same in the transaction of something else.
 *
 * @returns also how many messages of the push outbox were given up as surplus
 */
export async function storeWithin(
  trx: Transaction<DatabaseSchema>,
  context: OutboxContext,
  notifications: readonly NewNotification[],
): Promise<{ readonly stored: Published[]; readonly surplus: number }> {
  const stored = await insertOrFind(trx, notifications, (rest) => insertNotifications(trx, rest));
  const created = stored.filter((one) => one.created).map(({ record }) => record);
  return { stored, surplus: await enqueuePush(trx, context, created, onlyWanted) };
}

/** Inserting it is all there is to do. */
function isPlain({ dedupe_key, delivery }: NewNotification): boolean {
  return dedupe_key === null && delivery !== 'inbox-and-web-push';
}

/** Those whose owner lets them use web push. */
async function onlyWanted(
  trx: Kysely<DatabaseSchema>,
  records: readonly NotificationRow[],
): Promise<NotificationRow[]> {
  const keyOf = ({ account_key, app_id, topic }: NotificationRow) => `${account_key}\0${app_id}\0${topic}`;
  const sources = [...new Map(records.map((record) => [keyOf(record), record])).values()];
  const surfaces = await allowedSurfaces(
    trx,
    sources.map(({ account_key: accountKey, app_id: appId, topic }) => ({ accountKey, appId, topic })),
  );
  const wanted = new Set(sources.filter((_, place) => surfaces[place]?.webPush).map(keyOf));
  return records.filter((record) => wanted.has(keyOf(record)));
}

async function insertOrFind(
  db: Kysely<DatabaseSchema>,
  notifications: readonly NewNotification[],
  insert: (some: readonly NewNotification[]) => Promise<NotificationRow[]>,
): Promise<Published[]> {
  const found = new Map<NewNotification, Published>();
  // What was in the way of one may be removed, as too old, before it is looked for: then there is room for it.
  for (let rest = notifications; rest.length > 0; rest = rest.filter((one) => !found.has(one))) {
    const inserted = new Map((await insert(rest)).map((record) => [record.id, record]));
    const refused = rest.filter(({ id }) => !inserted.has(id));
    const former = refused.length === 0 ? [] : await findByDedupeKeys(db, refused);
    for (const one of rest) {
      const record = inserted.get(one.id);
      const before = record ?? former.find((row) => isSame(row, one));
      if (before !== undefined) found.set(one, { record: before, created: record !== undefined });
    }
  }
  return notifications.flatMap((one) => found.get(one) ?? []);
}

function isSame(row: NotificationRow, { installation_id, dedupe_key }: NewNotification): boolean {
  return dedupe_key !== null && row.installation_id === installation_id && row.dedupe_key === dedupe_key;
}
