// All SQL that changes conversations of the bundled transport, for many changes at once.
import { sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';
import type { Party, Side } from './conversation-rules.ts';

export interface ConversationRow {
  readonly id: string;
  readonly lowKey: string;
  readonly highKey: string;
  readonly lowGone: boolean;
  readonly highGone: boolean;
  readonly sealedKey: Buffer;
  readonly createdAt: Date;
}

const CONVERSATION = sql`id, low_key AS "lowKey", high_key AS "highKey", low_gone AS "lowGone", high_gone AS "highGone",
  sealed_key AS "sealedKey", created_at AS "createdAt"`;

/** The accounts of conversations; never changes. */
export async function selectAccountsOf(db: Executor, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT low_key AS key FROM conversations WHERE id = ANY(${ids}::uuid[])
    UNION SELECT high_key FROM conversations WHERE id = ANY(${ids}::uuid[])`.execute(db);
  return rows.map(({ key }) => key);
}

export interface Pair {
  readonly lowKey: string;
  readonly highKey: string;
}

export async function selectConversations(
  db: Executor,
  ids: readonly string[],
  pairs: readonly Pair[],
): Promise<ConversationRow[]> {
  const { rows } = await sql<ConversationRow>`
    SELECT ${CONVERSATION} FROM conversations WHERE id = ANY(${ids}::uuid[])
    UNION
    SELECT ${CONVERSATION} FROM conversations
     WHERE (low_key, high_key) IN (
       SELECT * FROM unnest(${pairs.map(({ lowKey }) => lowKey)}::text[], ${pairs.map(({ highKey }) => highKey)}::text[]))
    `.execute(db);
  return rows;
}

/**
 * Holds what changes for these accounts until the transaction ends, in a fixed order, so that transactions cannot deadlock and the
 * numbers of an account's changes become visible in order.
 *
 * @param since requests after it are counted
 */
export async function lockParties(
  trx: Executor,
  keys: readonly string[],
  { since, now }: { readonly since: Date; readonly now: Date },
): Promise<Party[]> {
  const { rows } = await sql<{ accountKey: string; changes: string; sentBytes: string; requests: number }>`
    WITH locked AS MATERIALIZED (
      SELECT account_key, changes, sent_bytes FROM messaging_accounts
       WHERE account_key = ANY(${keys}::text[]) ORDER BY account_key FOR NO KEY UPDATE)
    SELECT account_key AS "accountKey", changes, sent_bytes AS "sentBytes",
           (SELECT count(*)::integer FROM conversation_sides AS asked
             WHERE asked.account_key = locked.account_key AND asked_at > ${since} AND asked_at <= ${now}) AS requests
      FROM locked`.execute(trx);
  return rows.map(({ changes, sentBytes, ...rest }) => ({
    ...rest,
    changes: Number(changes),
    sentBytes: Number(sentBytes),
  }));
}

export interface StoredSide extends Side {
  readonly conversationId: string;
}

const SIDE = sql`account_key AS "accountKey", conversation_id AS "conversationId", state, blocked, was_open AS "wasOpen",
  declined_at AS "declinedAt", asked_at AS "askedAt", asked_messages AS "askedMessages", unread,
  read_change AS "readChange", last_message_at AS "lastMessageAt", latest_change AS "latestChange", changed`;

type SideRow = Omit<StoredSide, 'readChange' | 'latestChange' | 'changed'> & {
  readonly readChange: string;
  readonly latestChange: string;
  readonly changed: string;
};

export async function selectSides(db: Executor, conversationIds: readonly string[]): Promise<StoredSide[]> {
  const { rows } = await sql<SideRow>`
    SELECT ${SIDE} FROM conversation_sides WHERE conversation_id = ANY(${conversationIds}::uuid[])`.execute(db);
  return rows.map(sideOf);
}

function sideOf({ readChange, latestChange, changed, ...rest }: SideRow): StoredSide {
  return {
    ...rest,
    readChange: Number(readChange),
    latestChange: Number(latestChange),
    changed: Number(changed),
  };
}

export interface SentRow {
  readonly id: string;
  readonly conversationId: string;
  readonly fromLow: boolean;
  readonly sealed: Buffer;
  readonly sentAt: Date;
  readonly installationId: string;
  readonly transactionId: string;
}

export interface Transaction {
  readonly installationId: string;
  readonly transactionId: string;
}

/** What was sent under these before. */
export async function selectSent(db: Executor, transactions: readonly Transaction[]): Promise<SentRow[]> {
  const { rows } = await sql<SentRow>`
    SELECT id, conversation_id AS "conversationId", from_low AS "fromLow", sealed, sent_at AS "sentAt",
           installation_id AS "installationId", transaction_id AS "transactionId"
      FROM conversation_messages
     WHERE (installation_id, transaction_id) IN (
       SELECT * FROM unnest(${transactions.map(({ installationId }) => installationId)}::text[],
                            ${transactions.map(({ transactionId }) => transactionId)}::text[]))`.execute(db);
  return rows;
}

/** Where a message stands for one side of its conversation. */
export interface ReadPlace {
  readonly conversationId: string;
  readonly messageId: string;
  readonly low: boolean;
}

/**
 * Of each message, the change by which it came to this side, and how many messages of the other side came after it; `undefined` for
 * one that never came to it.
 */
export async function selectReadPlaces(
  db: Executor,
  places: readonly ReadPlace[],
): Promise<({ readonly change: number; readonly after: number } | undefined)[]> {
  const { rows } = await sql<{ place: string; change: string; after: number }>`
    SELECT place, read.change,
           (SELECT count(*)::integer FROM conversation_messages AS later
             WHERE later.conversation_id = read.conversation_id AND later.from_low <> read.low
               AND CASE WHEN read.low THEN low_change ELSE high_change END > read.change) AS after
      FROM (SELECT place, wanted.low, message.conversation_id,
                   CASE WHEN wanted.low THEN low_change ELSE high_change END AS change
              FROM unnest(${places.map(({ conversationId }) => conversationId)}::uuid[],
                          ${places.map(({ messageId }) => messageId)}::uuid[],
                          ${places.map(({ low }) => low)}::boolean[])
                   WITH ORDINALITY AS wanted (conversation_id, id, low, place)
              JOIN conversation_messages AS message USING (conversation_id, id)) AS read
     WHERE read.change IS NOT NULL`.execute(db);
  const found = new Map(rows.map(({ place, change, after }) => [Number(place), { change: Number(change), after }]));
  return places.map((_, index) => found.get(index + 1));
}

export async function insertConversations(trx: Executor, rows: readonly ConversationRow[]): Promise<void> {
  await sql`
    INSERT INTO conversations (id, low_key, high_key, sealed_key, created_at)
    SELECT * FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ lowKey }) => lowKey)}::text[],
                         ${rows.map(({ highKey }) => highKey)}::text[], ${rows.map(({ sealedKey }) => sealedKey)}::bytea[],
                         ${rows.map(({ createdAt }) => createdAt)}::timestamptz[])`.execute(trx);
}

export async function upsertSides(trx: Executor, sides: readonly StoredSide[]): Promise<void> {
  await sql`
    INSERT INTO conversation_sides (account_key, conversation_id, state, blocked, was_open, declined_at, asked_at,
                                    asked_messages, unread, read_change, last_message_at, latest_change, changed)
    SELECT "accountKey", "conversationId", state, blocked, "wasOpen", "declinedAt", "askedAt", "askedMessages", unread,
           "readChange", "lastMessageAt", "latestChange", changed
      FROM jsonb_to_recordset(${JSON.stringify(sides)}::jsonb) AS side (
             "accountKey" text, "conversationId" uuid, state text, blocked boolean, "wasOpen" boolean,
             "declinedAt" timestamptz, "askedAt" timestamptz, "askedMessages" integer, unread integer,
             "readChange" bigint, "lastMessageAt" timestamptz, "latestChange" bigint, changed bigint)
    ON CONFLICT (account_key, conversation_id) DO UPDATE
       SET state = EXCLUDED.state, blocked = EXCLUDED.blocked, was_open = EXCLUDED.was_open,
           declined_at = EXCLUDED.declined_at, asked_at = EXCLUDED.asked_at, asked_messages = EXCLUDED.asked_messages,
           unread = EXCLUDED.unread, read_change = EXCLUDED.read_change, last_message_at = EXCLUDED.last_message_at,
           latest_change = EXCLUDED.latest_change, changed = EXCLUDED.changed`.execute(trx);
}

export interface NewMessage extends SentRow {
  readonly lowChange: number | null;
  readonly highChange: number | null;
}

export async function insertMessages(trx: Executor, rows: readonly NewMessage[]): Promise<void> {
  await sql`
    INSERT INTO conversation_messages (id, conversation_id, from_low, sealed, sent_at, low_change, high_change,
                                       installation_id, transaction_id)
    SELECT * FROM unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ conversationId }) => conversationId)}::uuid[],
      ${rows.map(({ fromLow }) => fromLow)}::boolean[], ${rows.map(({ sealed }) => sealed)}::bytea[],
      ${rows.map(({ sentAt }) => sentAt)}::timestamptz[], ${rows.map(({ lowChange }) => lowChange)}::bigint[],
      ${rows.map(({ highChange }) => highChange)}::bigint[],
      ${rows.map(({ installationId }) => installationId)}::text[],
      ${rows.map(({ transactionId }) => transactionId)}::text[])`.execute(trx);
}

export async function updateParties(trx: Executor, parties: readonly Party[]): Promise<void> {
  await sql`
    UPDATE messaging_accounts AS account SET changes = changed.changes, sent_bytes = changed.sent_bytes
      FROM unnest(${parties.map(({ accountKey }) => accountKey)}::text[], ${parties.map(({ changes }) => changes)}::bigint[],
                  ${parties.map(({ sentBytes }) => sentBytes)}::bigint[]) AS changed (account_key, changes, sent_bytes)
     WHERE account.account_key = changed.account_key`.execute(trx);
}

/** In the deletion of an account: waits for changes under way; what only its own side had goes. */
export async function removeParty(trx: Executor, accountKey: string): Promise<void> {
  await sql`SELECT FROM messaging_accounts WHERE account_key = ${accountKey} FOR UPDATE`.execute(trx);
  // Two accounts that are deleted at once meet at the row of their conversation.
  await sql`
    UPDATE conversations SET low_gone = low_gone OR low_key = ${accountKey}, high_gone = high_gone OR high_key = ${accountKey}
     WHERE low_key = ${accountKey} OR high_key = ${accountKey}`.execute(trx);
  await sql`
    DELETE FROM conversations
     WHERE low_gone AND high_gone AND (low_key = ${accountKey} OR high_key = ${accountKey})`.execute(trx);
  await sql`
    DELETE FROM conversation_messages AS message USING conversations AS conversation
     WHERE conversation.id = message.conversation_id
       AND ((conversation.low_key = ${accountKey} AND high_change IS NULL) OR (conversation.high_key = ${accountKey} AND low_change IS NULL))
    `.execute(trx);
}
