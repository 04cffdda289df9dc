// What was said in a room, taken into the book: each event once, in its place, and as words where it is no text.
import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import { type Decrypted, type RoomEvent, roomEvent } from '../matrix/shapes.ts';
import type { Conversation, Room } from './book.ts';
import { KEY_LIFE_MS, KEY_PATIENCE_MS, MOST_UNDECRYPTED, MOST_UNDECRYPTED_BYTES } from './rules.ts';
import { DELETED, EARLIER, isComparison, type Said, unreadable, wordsOf, wordsOfPlain } from './words.ts';

/** Takes in events of a room's timeline, in their order. */
export async function takeEvents(
  account: Account,
  room: Room,
  events: readonly RoomEvent[],
  now: number,
): Promise<void> {
  for (const event of events) await takeEvent(account, room, notAfter(now, event), now);
}

/** Nothing was said later than it arrived, whatever the clock of its server says. */
const notAfter = (now: number, event: RoomEvent): RoomEvent =>
  event.origin_server_ts > now ? { ...event, origin_server_ts: now } : event;

async function takeEvent(account: Account, room: Room, event: RoomEvent, now: number): Promise<void> {
  const { book, userId } = account;
  const { event_id: id, sender } = event;
  const conversation = book.conversations.get(room.conversation);
  if (conversation === undefined || event.state_key !== undefined) return;
  if (event.type === 'm.room.redaction') {
    takeRedaction(account, room, event);
    return;
  }
  // What the other side says while this one does not listen does not arrive, later neither.
  if (conversation.state === 'left' && sender !== userId) return;
  if (book.messages.get(id) !== undefined || book.undecrypted.get(id) !== undefined) return;
  if (sender === userId && takeOwn(account, event)) return;
  if (event.type === 'm.room.encrypted' && book.isReplay(cipherOf(event) ?? '', id)) return;
  if (event.type !== 'm.room.encrypted') {
    const said = wordsOfPlain(event);
    if (said !== null) say(account, conversation, event, book.count(), said);
    noteComparison(account, room, event, event);
    return;
  }
  const decrypted = await account.machine.decrypt(room.id, event);
  const place = book.count();
  if (decrypted.type !== null) {
    const said = wordsOf(decrypted);
    if (said !== null) say(account, conversation, event, place, said);
    noteComparison(account, room, event, decrypted);
    return;
  }
  if (wasAbsent(event)) {
    sayEarlier(account, conversation, room, event, place);
    return;
  }
  const isFull = book.undecrypted.size >= MOST_UNDECRYPTED || book.undecryptedBytes() >= MOST_UNDECRYPTED_BYTES;
  // It stays among those that are tried, as the key may come yet.
  if (!isFull) book.undecrypted.set(id, { roomId: room.id, event, place, since: now });
  if (isFull || decrypted.withheld !== null) say(account, conversation, event, place, unreadable(decrypted.withheld));
}

/** The last request of a room alone: each is answered with a message. */
function noteComparison({ book, userId }: Account, { id: roomId }: Room, event: RoomEvent, content: Decrypted): void {
  if (isComparison(content) && event.sender !== userId) book.comparisons.set(roomId, { id: event.event_id, roomId });
}

/** Whether an event is from before this account was invited, so that nobody gave it the key. */
export const wasAbsent = ({ unsigned }: RoomEvent) =>
  unsigned?.membership === 'leave' || unsigned?.membership === 'ban';

/** Once for a room, whatever was said in it before. */
function sayEarlier(account: Account, conversation: Conversation, room: Room, event: RoomEvent, place: number): void {
  const id = noteId(`earlier ${room.id}`);
  if (account.book.messages.get(id) === undefined)
    say(account, conversation, { ...event, event_id: id, content: {} }, place, EARLIER);
}

/** Of an encrypted event, whatever else it has: the same one under another id is a repetition by somebody between. */
function cipherOf({ type, content }: RoomEvent): string | null {
  if (type !== 'm.room.encrypted' || typeof content.ciphertext !== 'string') return null;
  // One ciphertext has several spellings in base64.
  const spelled = Buffer.from(content.ciphertext, 'base64').toString('base64').replace(/=+$/, '');
  return createHash('sha256').update(spelled).digest('base64url').slice(0, 24);
}

/** An event that this account sent: what it said is known from before. */
function takeOwn({ book }: Account, event: RoomEvent): boolean {
  const transactionId = event.unsigned?.transaction_id;
  const sending = transactionId === undefined ? undefined : book.sendings.get(transactionId);
  if (sending === undefined) return false;
  settleSending(book, sending.transactionId, event.event_id, event.origin_server_ts, event.sender);
  return true;
}

/** A message of this account is in the room. */
export function settleSending(
  book: Account['book'],
  transactionId: string,
  messageId: string,
  sentAt: number,
  sender: string,
): void {
  const sending = book.sendings.get(transactionId);
  const conversation = sending && book.conversations.get(sending.conversation);
  if (sending === undefined || conversation === undefined || sending.messageId !== null) return;
  book.sendings.set(transactionId, { ...sending, content: null, body: '', messageId });
  if (book.messages.get(messageId) !== undefined) return;
  const place = book.count();
  book.say({
    id: messageId,
    conversation: conversation.id,
    sender,
    kind: 'text',
    body: sending.body,
    sentAt,
    cipher: null,
    place,
  });
  book.put({
    ...conversation,
    asked: conversation.asked + (conversation.state === 'requested' ? 1 : 0),
    lastMessageAt: sentAt,
    active: place,
  });
}

function say(account: Account, { id }: Conversation, event: RoomEvent, place: number, said: Said): void {
  const { book, userId } = account;
  const sentAt = Math.floor(event.origin_server_ts);
  const cipher = cipherOf(event);
  book.say({ id: event.event_id, conversation: id, sender: event.sender, ...said, sentAt, cipher, place });
  const conversation = book.conversations.get(id);
  if (conversation === undefined) return;
  const isUnread = event.sender !== userId && place > conversation.readTo;
  book.put({
    ...conversation,
    unread: conversation.unread + (isUnread ? 1 : 0),
    lastMessageAt: sentAt,
    active: place,
  });
}

/** What somebody deleted of their own is deleted here too. A room can let them delete what others wrote: that stays. */
function takeRedaction({ book }: Account, room: Room, { content, redacts, sender }: RoomEvent): void {
  const target = typeof content.redacts === 'string' ? content.redacts : redacts;
  if (target === undefined) return;
  const message = book.messages.get(target);
  const isTheirs = message?.conversation === room.conversation && message.sender === sender;
  if (isTheirs && message.body !== DELETED.body) book.say({ ...message, ...DELETED });
  const kept = book.undecrypted.get(target);
  if (kept?.roomId === room.id && kept.event.sender === sender) book.undecrypted.delete(target);
}

/** Whether something waits for its key that is not shown as such yet. */
export function hasUnshown({ undecrypted, messages }: Account['book']): boolean {
  for (const { event } of undecrypted.values()) if (messages.get(event.event_id) === undefined) return true;
  return false;
}

/** Tries again what could not be decrypted; what has waited long enough is shown as such. */
export async function retryUndecrypted(account: Account, now: number): Promise<void> {
  const { book, machine } = account;
  for (const { roomId, event, place, since } of [...book.undecrypted.values()]) {
    const room = book.rooms.get(roomId);
    const conversation = room && book.conversations.get(room.conversation);
    if (conversation === undefined) {
      book.undecrypted.delete(event.event_id);
      continue;
    }
    const decrypted = await machine.decrypt(roomId, event);
    const shown = book.messages.get(event.event_id);
    if (decrypted.type !== null) {
      book.undecrypted.delete(event.event_id);
      const said = wordsOf(decrypted);
      if (said === null) continue;
      if (shown === undefined) say(account, conversation, event, place, said);
      else book.say({ ...shown, ...said });
    } else if (shown === undefined && (now - since >= KEY_PATIENCE_MS || decrypted.withheld !== null)) {
      say(account, conversation, event, place, unreadable(decrypted.withheld));
    } else if (now - since >= KEY_LIFE_MS) {
      book.undecrypted.delete(event.event_id);
    }
  }
}

/** Of a message that is no event. */
const noteId = (of: string) => `~${createHash('sha256').update(of).digest('hex').slice(0, 40)}`;

/** A message in our own words, at the end of a conversation. */
export function note(account: Account, conversation: Conversation, sender: string, said: Said, now: number): void {
  const place = account.book.count();
  const event = {
    event_id: noteId(`${conversation.id} ${place}`),
    type: 'note',
    sender,
    origin_server_ts: now,
    content: {},
  };
  say(account, conversation, roomEvent.parse(event), place, said);
}
