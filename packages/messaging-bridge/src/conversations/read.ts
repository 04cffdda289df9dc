// Reads conversations, their messages and what changed, in the form of the contract. Answers have at most 1 MiB, so that a
// page can have fewer items than were asked for.
import type {
  MessagingBridgeConversation,
  MessagingBridgeInput,
  MessagingBridgeMessage,
  MessagingBridgeResult,
} from '@platform/contract';
import { OperationError } from '../failure.ts';
import type { Book, Conversation, Message } from './book.ts';
import { ANSWER_BYTES, SYNC_CONVERSATIONS } from './rules.ts';

/** Years have four digits: the last moment of 9999. */
const LATEST = 253_402_300_799_999;
const time = (milliseconds: number) => new Date(Math.min(milliseconds, LATEST)).toISOString();

export const shownConversation = (conversation: Conversation): MessagingBridgeConversation => ({
  id: conversation.id,
  // Rooms without encryption are never joined for long, and nothing is written or shown there.
  encrypted: true,
  participants: [{ transportUserId: conversation.other }],
  state: conversation.state,
  unread: conversation.unread,
  createdAt: time(conversation.createdAt),
  lastMessageAt: conversation.lastMessageAt === null ? null : time(conversation.lastMessageAt),
});

export const shownMessage = (message: Message): MessagingBridgeMessage => ({
  id: message.id,
  conversationId: message.conversation,
  senderId: message.sender,
  body: message.body,
  kind: message.kind,
  sentAt: time(message.sentAt),
});

/** As many of the items as fit into an answer, and one at least. */
function fitting<Item>(items: readonly Item[]): Item[] {
  let bytes = 0;
  const fit: Item[] = [];
  for (const item of items) {
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (fit.length > 0 && bytes > ANSWER_BYTES) break;
    fit.push(item);
  }
  return fit;
}

const newest = (book: Book) =>
  [...book.conversations.values()].toSorted((a, b) => b.active - a.active || (a.id < b.id ? -1 : 1));

export function listConversations(
  book: Book,
  { limit, cursor }: MessagingBridgeInput<'conversations'>,
): MessagingBridgeResult<'conversations'> {
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : numberOf(cursor);
  const after = newest(book).filter(({ active }) => active < before);
  const page = after.slice(0, limit);
  const last = page.at(-1);
  return {
    conversations: page.map(shownConversation),
    nextCursor: last === undefined || page.length === after.length ? null : String(last.active),
  };
}

/** @throws OperationError `not_found` */
export function listMessages(
  book: Book,
  { conversationId, limit, cursor }: MessagingBridgeInput<'messages'>,
): MessagingBridgeResult<'messages'> {
  if (book.conversations.get(conversationId) === undefined)
    throw new OperationError('not_found', 'There is no such conversation.');
  const ids = book.messagesOf(conversationId);
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : numberOf(cursor);
  const page: Message[] = [];
  let hasMore = false;
  for (let at = ids.length - 1; at >= 0; at -= 1) {
    const message = book.messages.get(ids[at] ?? '');
    if (message === undefined || message.place >= before) continue;
    if (page.length === limit) {
      hasMore = true;
      break;
    }
    page.push(message);
  }
  const fit = fitting(page.map(shownMessage));
  const last = page[fit.length - 1];
  return {
    messages: fit,
    nextCursor: last !== undefined && (hasMore || fit.length < page.length) ? String(last.place) : null,
  };
}

export interface News {
  /** Number of the last change in it. */
  readonly upTo: number;
  readonly conversations: MessagingBridgeConversation[];
  readonly messages: MessagingBridgeMessage[];
  readonly hasMore: boolean;
}

/** What changed after a number; `null` for nothing. */
export function newsAfter(book: Book, number: number, limit: number): News | null {
  if (number >= book.last()) return null;
  const messages: Message[] = [];
  let upTo = book.last();
  for (const message of book.changedAfter(number)) {
    if (messages.length === limit) {
      upTo = messages.at(-1)?.changed ?? upTo;
      break;
    }
    messages.push(message);
  }
  const fit = fitting(messages.map(shownMessage));
  if (fit.length < messages.length) upTo = messages[fit.length - 1]?.changed ?? upTo;
  const changed = [...book.conversations.values()]
    .filter((one) => one.changed > number && one.changed <= upTo)
    .toSorted((a, b) => a.changed - b.changed);
  const shown = changed.slice(0, SYNC_CONVERSATIONS);
  // Messages after the last of these conversations come with the next answer.
  if (shown.length < changed.length) upTo = shown.at(-1)?.changed ?? upTo;
  const kept = messages.slice(0, fit.length).filter((message) => message.changed <= upTo);
  const ids = new Set([...shown.map(({ id }) => id), ...kept.map(({ conversation }) => conversation)]);
  const conversations = [...ids].flatMap((id) => book.conversations.get(id) ?? []);
  if (conversations.length === 0 && upTo >= book.last()) return null;
  return {
    upTo,
    conversations: conversations.map(shownConversation),
    messages: kept.map(shownMessage),
    hasMore: upTo < book.last(),
  };
}

/** The newest conversations, for a sync that begins. */
export const firstNews = (book: Book, limit: number) => newest(book).slice(0, limit).map(shownConversation);

/** @throws OperationError for what is no cursor of ours */
export function numberOf(cursor: string): number {
  if (!/^[0-9]{1,15}$/.test(cursor)) throw new OperationError('conflict', 'This cursor is not of this account.');
  return Number(cursor);
}
