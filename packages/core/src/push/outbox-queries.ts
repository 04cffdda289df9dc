// The SQL of the outbox. A subscription, not a message, is what a worker leases: its messages are sent one
// after the other.
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;
export type MessageRow = Selectable<DatabaseSchema['push_messages']>;
export type NewMessage = Omit<MessageRow, 'sequence' | 'attempts' | 'shortened'>;

/** Locks the unexpired subscriptions of some accounts, in the order in which all writers lock them. */
export async function lockSubscriptionsOf(
  trx: Transaction<DatabaseSchema>,
  accountKeys: readonly string[],
  now: Date,
): Promise<{ id: string; account_key: string }[]> {
  return await trx
    .selectFrom('push_subscriptions')
    .select(['id', 'account_key'])
    .where('account_key', 'in', accountKeys)
    .where('expires_at', '>', now)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/**
 * Adds messages of locked subscriptions: each replaces one with its topic, or the oldest one beyond the limit.
 *
 * @returns how many were deleted as surplus
 */
export async function insertMessages(
  trx: Transaction<DatabaseSchema>,
  messages: readonly NewMessage[],
  { waiting, now }: { readonly waiting: number; readonly now: Date },
): Promise<number> {
  const ids = [...new Set(messages.map(({ subscription_id }) => subscription_id))];
  const collapsing = messages.filter(({ topic }) => topic !== null);
  if (collapsing.length > 0)
    await sql`
      DELETE FROM push_messages m
       USING unnest(${collapsing.map(({ subscription_id }) => subscription_id)}::text[],
                    ${collapsing.map(({ topic }) => topic)}::text[]) AS n (subscription_id, topic)
       WHERE m.subscription_id = n.subscription_id AND m.topic = n.topic`.execute(trx);
  // One array for each column: the statement is the same for any number of messages, and they keep their order.
  await sql`
    INSERT INTO push_messages (subscription_id, notification_id, topic, urgency, sealed, expires_at)
    SELECT * FROM unnest(${messages.map(({ subscription_id }) => subscription_id)}::text[],
                         ${messages.map(({ notification_id }) => notification_id)}::text[],
                         ${messages.map(({ topic }) => topic)}::text[],
                         ${messages.map(({ urgency }) => urgency)}::text[],
                         ${messages.map(({ sealed }) => sealed)}::bytea[],
                         ${messages.map(({ expires_at }) => expires_at)}::timestamptz[])`.execute(trx);
  const { numAffectedRows: surplus = 0n } = await sql`
    DELETE FROM push_messages WHERE sequence IN (
      SELECT m.sequence FROM unnest(${ids}::text[]) AS s (id) CROSS JOIN LATERAL (
        SELECT sequence FROM push_messages WHERE subscription_id = s.id ORDER BY sequence DESC OFFSET ${waiting}) m)`.execute(
    trx,
  );
  // A new message does not shorten the wait before a retry.
  await sql`UPDATE push_subscriptions SET due_at = coalesce(due_at, ${now}) WHERE id = ANY(${ids}::text[])`.execute(
    trx,
  );
  return Number(surplus);
}

/** Deletes the queued messages of these notifications. */
export async function deleteMessagesOf(trx: Database, notificationIds: readonly string[]): Promise<void> {
  await sql`DELETE FROM push_messages WHERE notification_id = ANY(${notificationIds}::text[])`.execute(trx);
}

export interface Claim {
  readonly lease: string;
  readonly now: Date;
  readonly until: Date;
  readonly atMost: number;
  /** How many of one account all workers together may hold at a time. */
  readonly ofAccount: number;
}

export interface ClaimedSubscription {
  readonly id: string;
  readonly sealed: Buffer;
  readonly expires_at: Date;
}

/**
 * Leases subscriptions with due messages that no other worker holds, those due longest first. An account whose push
 * services hang holds its share only; its other subscriptions stay due until one of those is released.
 */
export async function claimSubscriptions(
  database: Database,
  { lease, now, until, atMost, ofAccount }: Claim,
): Promise<ClaimedSubscription[]> {
  const { rows } = await sql<ClaimedSubscription>`
    UPDATE push_subscriptions SET lease = ${lease}, leased_until = ${until}
     WHERE id IN (
       SELECT s.id FROM push_subscriptions s
        WHERE s.due_at <= ${now} AND (s.leased_until IS NULL OR s.leased_until <= ${now})
          AND (SELECT count(*) FROM push_subscriptions o
                WHERE o.account_key = s.account_key AND o.id <> s.id
                  AND (o.leased_until > ${now} OR o.due_at <= ${now} AND (o.due_at, o.id) < (s.due_at, s.id))
              ) < ${ofAccount}
        ORDER BY s.due_at LIMIT ${atMost} FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING id, sealed, expires_at`.execute(database);
  return rows;
}

/** The next messages of each subscription, in the order in which they are sent. */
export async function nextMessages(
  database: Database,
  ids: readonly string[],
  atMost: number,
): Promise<Map<string, MessageRow[]>> {
  const { rows } = await sql<MessageRow>`
    SELECT m.* FROM unnest(${ids}::text[]) AS s (id) CROSS JOIN LATERAL (
      SELECT * FROM push_messages WHERE subscription_id = s.id ORDER BY sequence LIMIT ${atMost}) m
     ORDER BY m.sequence`.execute(database);
  return Map.groupBy(rows, ({ subscription_id }) => subscription_id);
}

/** The outcome for a leased subscription and its messages. */
export interface Settlement {
  readonly id: string;
  readonly lease: string;
  /** Messages that were sent or dropped. */
  readonly done: readonly string[];
  /** Whether the push service no longer knows it, or its session has ended. */
  readonly gone: boolean;
  /** When to retry the first message. */
  readonly retry: { readonly sequence: string; readonly at: Date; readonly shortened: boolean } | null;
}

/**
 * Stores the outcomes for some subscriptions and releases them. Those leased by another worker meanwhile are left
 * alone.
 */
export async function settle(
  trx: Transaction<DatabaseSchema>,
  settlements: readonly Settlement[],
  now: Date,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM push_subscriptions s
      JOIN unnest(${settlements.map(({ id }) => id)}::text[], ${settlements.map(({ lease }) => lease)}::text[])
           AS l (id, lease) ON l.id = s.id AND l.lease = s.lease
     ORDER BY s.id FOR NO KEY UPDATE OF s`.execute(trx);
  const held = new Set(rows.map(({ id }) => id));
  const ours = settlements.filter(({ id }) => held.has(id));
  const done = settlements.flatMap((settlement) => settlement.done);
  await sql`DELETE FROM push_messages WHERE sequence = ANY(${done}::bigint[])`.execute(trx);
  const gone = ours.filter((settlement) => settlement.gone).map(({ id }) => id);
  if (gone.length > 0) await trx.deleteFrom('push_subscriptions').where('id', 'in', gone).execute();
  const retries = ours.flatMap(({ retry }) => (retry === null ? [] : [retry]));
  if (retries.length > 0)
    await sql`
      UPDATE push_messages m SET attempts = attempts + 1, shortened = r.shortened
        FROM unnest(${retries.map(({ sequence }) => sequence)}::bigint[],
                    ${retries.map(({ shortened }) => shortened)}::boolean[]) AS r (sequence, shortened)
       WHERE m.sequence = r.sequence`.execute(trx);
  // The rows are locked already, so this sees every message that was committed before it.
  await sql`
    UPDATE push_subscriptions s SET lease = NULL, leased_until = NULL,
           due_at = CASE WHEN EXISTS (SELECT FROM push_messages m WHERE m.subscription_id = s.id)
                         THEN coalesce(r.at, ${now}) END
      FROM unnest(${ours.map(({ id }) => id)}::text[],
                  ${ours.map(({ retry }) => retry?.at ?? null)}::timestamptz[]) AS r (id, at)
     WHERE s.id = r.id`.execute(trx);
}

/**
 * When the next subscription can be leased; `null` when nothing waits. What has been due for more than a second waits
 * for the share of its account: the replica that releases it looks again.
 */
export async function nextDue(database: Database, now: Date): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    SELECT min(greatest(due_at, leased_until)) AS at FROM push_subscriptions
     WHERE due_at IS NOT NULL AND greatest(due_at, leased_until) > ${now}::timestamptz - interval '1 second'`.execute(
    database,
  );
  return rows[0]?.at ?? null;
}

/** Number of queued messages. */
export async function countWaiting(database: Database): Promise<number> {
  const { count } = await database
    .selectFrom('push_messages')
    .select((select) => select.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
