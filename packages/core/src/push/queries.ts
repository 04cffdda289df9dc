// The SQL of push subscriptions and of the platform's own key. outbox-queries.ts has the SQL of queued messages.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { DatabaseSchema } from '../database/schema.ts';

type Database = Kysely<DatabaseSchema>;

/** The platform's VAPID key, with the private half encrypted; `undefined` before the first start with web push. */
export function findVapidKey(database: Database) {
  return database
    .selectFrom('push_keys')
    .select(['public_key', 'sealed_private_key'])
    .where('name', '=', 'vapid')
    .executeTakeFirst();
}

/** Stores the VAPID key, unless there is one: of concurrent first starts one wins. */
export async function insertVapidKey(
  database: Database,
  { publicKey, sealed, now }: { readonly publicKey: string; readonly sealed: Buffer; readonly now: Date },
): Promise<void> {
  await database
    .insertInto('push_keys')
    .values({ name: 'vapid', public_key: publicKey, sealed_private_key: sealed, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Serialises writes of subscriptions: they are rare, and each may delete others. */
export async function lockSubscriptions(trx: Transaction<DatabaseSchema>): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(4208)`.execute(trx);
}

export interface NewSubscription {
  readonly id: string;
  readonly accountKey: string;
  readonly sessionId: string;
  readonly expiresAt: Date;
  readonly endpointHash: Buffer;
  readonly sealed: Buffer;
  readonly now: Date;
}

/** The subscription with this endpoint hash, expired or not, of whichever account; `undefined` when there is none. */
export function findSubscription(trx: Database, endpointHash: Buffer) {
  return trx
    .selectFrom('push_subscriptions')
    .select(['id', 'account_key'])
    .where('endpoint_hash', '=', endpointHash)
    .executeTakeFirst();
}

/** Inserts a subscription, or updates a known one's keys or session; its queued messages stay. */
export async function upsertSubscription(trx: Database, subscription: NewSubscription): Promise<void> {
  const { id, accountKey, sessionId, expiresAt, endpointHash, sealed, now } = subscription;
  await sql`
    INSERT INTO push_subscriptions (id, account_key, session_id, expires_at, endpoint_hash, sealed, created_at)
    VALUES (${id}, ${accountKey}, ${sessionId}, ${expiresAt}, ${endpointHash}, ${sealed}, ${now})
    ON CONFLICT (endpoint_hash) DO UPDATE
       SET session_id = EXCLUDED.session_id, expires_at = EXCLUDED.expires_at, sealed = EXCLUDED.sealed,
           created_at = EXCLUDED.created_at`.execute(trx);
}

/** The subscriptions of an account that have not expired, newest first. */
export async function selectSubscriptions(database: Database, accountKey: string, now: Date) {
  return await database
    .selectFrom('push_subscriptions')
    .select(['id', 'created_at'])
    .where('account_key', '=', accountKey)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Deletes all but the most recent subscriptions of an account. */
export async function deleteSubscriptionsBeyond(trx: Database, accountKey: string, kept: number): Promise<void> {
  await trx
    .deleteFrom('push_subscriptions')
    .where('id', 'in', (query) =>
      query
        .selectFrom('push_subscriptions')
        .select('id')
        .where('account_key', '=', accountKey)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(kept),
    )
    .execute();
}

/** Deletes the account's subscription with this endpoint hash, if any. */
export async function deleteSubscription(trx: Database, accountKey: string, endpointHash: Buffer): Promise<void> {
  await trx
    .deleteFrom('push_subscriptions')
    .where('account_key', '=', accountKey)
    .where('endpoint_hash', '=', endpointHash)
    .execute();
}

/** Deletes a subscription, if it exists. */
export async function deleteSubscriptionById(trx: Database, id: string): Promise<void> {
  await trx.deleteFrom('push_subscriptions').where('id', '=', id).execute();
}
