// All SQL that reads conversations of the bundled transport, as one of their accounts has them.
import { type ConversationState, limits, type Opened } from '@platform/contract';
import { type RawBuilder, sql } from 'kysely';
import type { Executor } from '../../database/schema.ts';
import { countOpened } from '../../opened.ts';

export interface OwnConversation {
  readonly id: string;
  readonly state: ConversationState;
  readonly unread: number;
  readonly createdAt: Date;
  readonly lastMessageAt: Date | null;
  /** The name of the other account; `null` for one that was deleted. */
  readonly otherName: string | null;
  readonly latestChange: number;
  readonly changed: number;
}

const OWN = sql`conversation.id, side.state, side.unread, conversation.created_at AS "createdAt",
  side.last_message_at AS "lastMessageAt", other.name AS "otherName", side.latest_change AS "latestChange", side.changed`;

const FROM_OWN = sql`conversation_sides AS side
  JOIN conversations AS conversation ON conversation.id = side.conversation_id
  LEFT JOIN account_states AS other
    ON other.key = CASE WHEN conversation.low_key = side.account_key THEN conversation.high_key ELSE conversation.low_key END`;

type OwnRow = Omit<OwnConversation, 'latestChange' | 'changed'> & {
  readonly latestChange: string;
  readonly changed: string;
};

function ownOf({ latestChange, changed, ...rest }: OwnRow): OwnConversation {
  return { ...rest, latestChange: Number(latestChange), changed: Number(changed) };
}

/** The number of the account's last change; `undefined` while it takes no part. */
export async function selectChanges(db: Executor, accountKey: string): Promise<number | undefined> {
  const { rows } = await sql<{ changes: string }>`
    SELECT changes FROM messaging_accounts WHERE account_key = ${accountKey}`.execute(db);
  return rows[0] === undefined ? undefined : Number(rows[0].changes);
}

export async function findConversation(
  db: Executor,
  accountKey: string,
  id: string,
): Promise<OwnConversation | undefined> {
  return (await selectConversationsById(db, accountKey, [id]))[0];
}

export async function selectConversationsById(
  db: Executor,
  accountKey: string,
  ids: readonly string[],
): Promise<OwnConversation[]> {
  const { rows } = await sql<OwnRow>`
    SELECT ${OWN} FROM ${FROM_OWN}
     WHERE side.account_key = ${accountKey} AND side.conversation_id = ANY(${ids}::uuid[])`.execute(db);
  return rows.map(ownOf);
}

/** The latest first, before this change; all for `null`. */
export async function selectLatest(
  db: Executor,
  accountKey: string,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<OwnConversation[]> {
  const { rows } = await sql<OwnRow>`
    SELECT ${OWN} FROM ${FROM_OWN}
     WHERE side.account_key = ${accountKey} AND (${before}::bigint IS NULL OR side.latest_change < ${before})
     ORDER BY side.latest_change DESC LIMIT ${limit}`.execute(db);
  return rows.map(ownOf);
}

/** Whose last message came after this change, in the order of that. */
export async function selectMovedUp(
  db: Executor,
  accountKey: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<OwnConversation[]> {
  const { rows } = await sql<OwnRow>`
    SELECT ${OWN} FROM ${FROM_OWN}
     WHERE side.account_key = ${accountKey} AND side.latest_change > ${after}
     ORDER BY side.latest_change LIMIT ${limit}`.execute(db);
  return rows.map(ownOf);
}

/** What changed after one change and up to another, in order. */
export async function selectChanged(
  db: Executor,
  accountKey: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<OwnConversation[]> {
  const { rows } = await sql<OwnRow>`
    SELECT ${OWN} FROM ${FROM_OWN}
     WHERE side.account_key = ${accountKey} AND side.changed > ${after} AND side.changed <= ${upTo}
     ORDER BY side.changed LIMIT ${limit}`.execute(db);
  return rows.map(ownOf);
}

export interface OwnMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly senderKey: string;
  /** `null` for an account that was deleted. */
  readonly senderName: string | null;
  readonly sealed: Buffer;
  readonly sealedKey: Buffer;
  readonly sentAt: Date;
  /** By which it came to the account. */
  readonly change: number;
}

const SENDER_KEY = sql`CASE WHEN message.from_low THEN conversation.low_key ELSE conversation.high_key END`;
const MESSAGE = sql`message.id, message.conversation_id AS "conversationId", ${SENDER_KEY} AS "senderKey",
  sender.name AS "senderName", conversation.sealed_key AS "sealedKey", message.sent_at AS "sentAt", message.change`;

type MessageRow = Omit<OwnMessage, 'change' | 'sealed'> & { readonly change: string; readonly sealed: Buffer | null };

export interface MessagePage {
  readonly items: readonly OwnMessage[];
  /** Whether there are more than fit into one answer. */
  readonly more: boolean;
}

/**
 * Of rows in this order the body is read as long as those before it leave room in an answer, so that one always is: whoever reads
 * costs core and its database no more at a time, however long the messages are.
 */
function bodyWithin(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`CASE WHEN sum(octet_length(message.sealed)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)
    - octet_length(message.sealed) < ${sql.lit(limits.messagingAnswer.value)} THEN message.sealed END AS sealed`;
}

function pageOf(rows: readonly MessageRow[], limit: number): MessagePage {
  const items: OwnMessage[] = [];
  for (const { change, sealed, ...rest } of rows.slice(0, limit)) {
    if (sealed === null) break;
    items.push({ ...rest, sealed, change: Number(change) });
  }
  return { items, more: rows.length > items.length };
}

/** Of one conversation the newest first, before this change; from the newest for `null`. */
export async function selectMessages(
  db: Executor,
  { accountKey, conversationId }: { readonly accountKey: string; readonly conversationId: string },
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<MessagePage> {
  // One of the two reads nothing: the account is one side.
  const { rows } = await sql<MessageRow>`
    SELECT ${MESSAGE}, ${bodyWithin(sql`message.change DESC`)}
      FROM conversation_sides AS side
      JOIN conversations AS conversation ON conversation.id = side.conversation_id
      CROSS JOIN LATERAL (
        (SELECT *, low_change AS change FROM conversation_messages
          WHERE conversation_id = conversation.id AND conversation.low_key = side.account_key
            AND low_change IS NOT NULL AND (${before}::bigint IS NULL OR low_change < ${before})
          ORDER BY low_change DESC LIMIT ${limit + 1})
        UNION ALL
        (SELECT *, high_change FROM conversation_messages
          WHERE conversation_id = conversation.id AND conversation.high_key = side.account_key
            AND high_change IS NOT NULL AND (${before}::bigint IS NULL OR high_change < ${before})
          ORDER BY high_change DESC LIMIT ${limit + 1})) AS message
      LEFT JOIN account_states AS sender ON sender.key = ${SENDER_KEY}
     WHERE side.account_key = ${accountKey} AND side.conversation_id = ${conversationId}
     ORDER BY message.change DESC LIMIT ${limit + 1}`.execute(db);
  return pageOf(rows, limit);
}

/** Of all conversations, what came after one change and up to another, in order. */
export async function selectNewMessages(
  db: Executor,
  accountKey: string,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<MessagePage> {
  const { rows } = await sql<MessageRow>`
    SELECT ${MESSAGE}, ${bodyWithin(sql`message.change`)}
      FROM conversation_sides AS side
      JOIN conversations AS conversation ON conversation.id = side.conversation_id
      CROSS JOIN LATERAL (
        (SELECT *, low_change AS change FROM conversation_messages
          WHERE conversation_id = conversation.id AND conversation.low_key = side.account_key
            AND low_change > ${after} AND low_change <= ${upTo}
          ORDER BY low_change LIMIT ${limit + 1})
        UNION ALL
        (SELECT *, high_change FROM conversation_messages
          WHERE conversation_id = conversation.id AND conversation.high_key = side.account_key
            AND high_change > ${after} AND high_change <= ${upTo}
          ORDER BY high_change LIMIT ${limit + 1})) AS message
      LEFT JOIN account_states AS sender ON sender.key = ${SENDER_KEY}
     WHERE side.account_key = ${accountKey} AND side.latest_change > ${after}
     ORDER BY message.change LIMIT ${limit + 1}`.execute(db);
  return pageOf(rows, limit);
}

export interface SealedKeyRow {
  readonly id: string;
  readonly sealedKey: Buffer;
}

/** Keys of all conversations, from after this one. */
export async function selectSealedKeys(
  db: Executor,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<SealedKeyRow[]> {
  const { rows } = await sql<SealedKeyRow>`
    SELECT id, sealed_key AS "sealedKey" FROM conversations
     WHERE ${after}::uuid IS NULL OR id > ${after}::uuid ORDER BY id LIMIT ${limit}`.execute(db);
  return rows;
}

/** What of messages an app of the account may read. */
export async function countReadable(db: Executor, accountKey: string): Promise<Opened[]> {
  const conversations = sql`SELECT FROM conversation_sides WHERE account_key = ${accountKey}`;
  const messages = sql`
    SELECT FROM ${FROM_OWN} JOIN conversation_messages AS message ON message.conversation_id = conversation.id
     WHERE side.account_key = ${accountKey}
       AND CASE WHEN conversation.low_key = ${accountKey} THEN message.low_change ELSE message.high_change END IS NOT NULL`;
  return [await countOpened(db, 'conversations', conversations), await countOpened(db, 'messages', messages)];
}
