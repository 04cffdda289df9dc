// What this account has read with another Matrix client: its own receipts and marks in a room, of which others' are nobody's here.
import type { Account } from '../accounts/account.ts';
import type { JoinedRoom } from '../matrix/shapes.ts';
import type { Conversation, Room } from './book.ts';

/** Receipts for others to see, and those for the account's devices alone. */
const RECEIPTS = ['m.read', 'm.read.private'];

/** After the events of the same sync, which they may name. */
export function takeReceipts(account: Account, { conversation: id }: Room, joined: JoinedRoom): void {
  const { book, userId } = account;
  for (const eventId of [...receiptsOf(joined, userId), ...marksOf(joined)]) {
    const conversation = book.conversations.get(id);
    const message = book.messages.get(eventId);
    const ofThis = message?.conversation === id ? message : undefined;
    // A message whose key has not come has its place already.
    const place = ofThis?.place ?? book.undecrypted.get(eventId)?.place;
    if (conversation !== undefined && place !== undefined) readUpTo(account, conversation, place);
  }
}

/** @returns the conversation with its messages read up to this place */
export function readUpTo({ book, userId }: Account, conversation: Conversation, place: number): Conversation {
  if (place <= conversation.readTo) return conversation;
  const messages = book.messagesOf(conversation.id).map((id) => book.messages.get(id));
  const unread = messages.filter((one) => one !== undefined && one.place > place && one.sender !== userId).length;
  return book.put({ ...conversation, readTo: place, unread });
}

function receiptsOf({ ephemeral }: JoinedRoom, userId: string): string[] {
  const found: string[] = [];
  for (const { type, content } of ephemeral.events) {
    if (type !== 'm.receipt') continue;
    for (const [eventId, kinds] of Object.entries(content)) {
      const read = RECEIPTS.some((kind) => isOf(memberOf(kinds, kind), userId));
      if (read) found.push(eventId);
    }
  }
  return found;
}

function marksOf({ account_data }: JoinedRoom): string[] {
  return account_data.events.flatMap(({ type, content }) =>
    type === 'm.fully_read' && typeof content.event_id === 'string' ? [content.event_id] : [],
  );
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const isOf = (readers: unknown, userId: string) =>
  typeof readers === 'object' && readers !== null && Object.hasOwn(readers, userId);
